# From runs to worst cases and exponents, and from those to verdicts.

rule regret:
    input:
        f"{results}/plan.json",
        ancient(run.done),
    output:
        f"{results}/regret.parquet",
        f"{results}/points.csv",
        f"{results}/config.yaml",
    log:
        f"{results}/logs/regret.log",
    shell:
        "{confee} collect {run.name} 2> {log}"


rule slopes:
    input:
        f"{results}/regret.parquet",
        pipeline.sources("confee.evidence"),
    output:
        f"{results}/worst.csv",
        f"{results}/slopes.csv",
    log:
        f"{results}/logs/slopes.log",
    shell:
        "{confee} measure {run.name} 2> {log}"


rule claims:
    input:
        f"{results}/regret.parquet",
        f"{results}/slopes.csv",
        pipeline.sources("confee.claims"),
    output:
        f"{results}/claims.json",
        f"{results}/claims.md",
    log:
        f"{results}/logs/claims.log",
    shell:
        "{confee} judge {run.name} 2> {log}"
