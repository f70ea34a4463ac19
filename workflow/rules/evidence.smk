# From runs to worst cases and exponents, and from those to verdicts.

rule regret:
    input:
        handoff.inputs_of("regret", *handoff.done),
    output:
        f"{results}/regret.parquet",
        f"{results}/asked.parquet",
        expand(f"{results}/studies/{{name}}.parquet", name=handoff.studies),
        f"{results}/points.csv",
        f"{results}/config.yaml",
        handoff.note("regret"),
    params:
        plan=handoff.plan_file,
        key=handoff.keys["regret"],
    log:
        f"{results}/logs/regret.log",
    shell:
        "confee make-regret {params.plan} {params.key} 2> {log}"


rule slopes:
    input:
        handoff.inputs_of("slopes", f"{results}/regret.parquet"),
    output:
        handoff.measured,
        handoff.note("slopes"),
    params:
        plan=handoff.plan_file,
        key=handoff.keys["slopes"],
    log:
        f"{results}/logs/slopes.log",
    shell:
        "confee make-slopes {params.plan} {params.key} 2> {log}"


rule claims:
    priority: 1  # before the figures, so that one that fails does not keep back the verdicts
    input:
        handoff.inputs_of("claims", f"{results}/slopes.csv"),
    output:
        f"{results}/claims.json",
        report(
            f"{results}/claims.md",
            caption="../caption.rst",
            category=VERDICTS,
            labels={"shows": "Verdicts with their controls", "kind": "text"},
        ),
        handoff.note("claims"),
    params:
        plan=handoff.plan_file,
        key=handoff.keys["claims"],
    log:
        f"{results}/logs/claims.log",
    shell:
        "confee make-claims {params.plan} {params.key} 2> {log}"
