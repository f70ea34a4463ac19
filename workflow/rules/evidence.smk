# From runs to worst cases and exponents, and from those to verdicts. Whether a stage is to be made
# again is for its `due` file to say: see confee.workflow.stages. No `ancient` between stages, though:
# Snakemake does not look at the `due` of a stage below one that runs.

rule regret:
    input:
        due=run.due("regret"),
        done=ancient(run.done),
    output:
        f"{results}/regret.parquet",
        f"{results}/asked.parquet",
        expand(f"{results}/studies/{{name}}.parquet", name=run.studies),
        f"{results}/points.csv",
        f"{results}/config.yaml",
        run.note("regret"),
    params:
        key=run.keys["regret"],
    log:
        f"{results}/logs/regret.log",
    benchmark:
        f"{results}/logs/regret.tsv"
    shell:
        "{confee} make-regret {run.plan_file} {params.key} 2> {log}"


rule slopes:
    input:
        due=run.due("slopes"),
        regret=f"{results}/regret.parquet",
    output:
        run.measured,
        run.note("slopes"),
    params:
        key=run.keys["slopes"],
    log:
        f"{results}/logs/slopes.log",
    benchmark:
        f"{results}/logs/slopes.tsv"
    shell:
        "{confee} make-slopes {run.plan_file} {params.key} 2> {log}"


rule claims:
    priority: 1  # before the figures: a picture that fails should not cost the verdicts
    input:
        due=run.due("claims"),
        slopes=f"{results}/slopes.csv",
    output:
        f"{results}/claims.json",
        report(
            f"{results}/claims.md",
            caption="../caption.rst",
            category=VERDICTS,
            labels={"shows": "Verdicts with their controls", "kind": "text"},
        ),
        run.note("claims"),
    params:
        key=run.keys["claims"],
    log:
        f"{results}/logs/claims.log",
    benchmark:
        f"{results}/logs/claims.tsv"
    shell:
        "{confee} make-claims {run.plan_file} {params.key} 2> {log}"
