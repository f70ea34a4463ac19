# From runs to worst cases and exponents, and from those to verdicts. Whether a stage is to be made
# again is for its `due` file to say: see confee.workflow.stages. No `ancient` between stages, though:
# Snakemake does not look at the `due` of a stage below one that runs.

rule regret:
    input:
        due=told.due("regret"),
        done=ancient(told.done),
    output:
        f"{results}/regret.parquet",
        f"{results}/asked.parquet",
        expand(f"{results}/studies/{{name}}.parquet", name=told.studies),
        f"{results}/points.csv",
        f"{results}/config.yaml",
        told.note("regret"),
    params:
        plan=told.plan_file,
        key=told.keys["regret"],
    log:
        f"{results}/logs/regret.log",
    benchmark:
        f"{results}/logs/regret.tsv"
    shell:
        "confee make-regret {params.plan} {params.key} 2> {log}"


rule slopes:
    input:
        due=told.due("slopes"),
        regret=f"{results}/regret.parquet",
    output:
        told.measured,
        told.note("slopes"),
    params:
        plan=told.plan_file,
        key=told.keys["slopes"],
    log:
        f"{results}/logs/slopes.log",
    benchmark:
        f"{results}/logs/slopes.tsv"
    shell:
        "confee make-slopes {params.plan} {params.key} 2> {log}"


rule claims:
    priority: 1  # before the figures: a picture that fails should not cost the verdicts
    input:
        due=told.due("claims"),
        slopes=f"{results}/slopes.csv",
    output:
        f"{results}/claims.json",
        report(
            f"{results}/claims.md",
            caption="../caption.rst",
            category=VERDICTS,
            labels={"shows": "Verdicts with their controls", "kind": "text"},
        ),
        told.note("claims"),
    params:
        plan=told.plan_file,
        key=told.keys["claims"],
    log:
        f"{results}/logs/claims.log",
    benchmark:
        f"{results}/logs/claims.tsv"
    shell:
        "confee make-claims {params.plan} {params.key} 2> {log}"
