# The page people read, from all that was made before it. It alone tells times.

rule report:
    input:
        due=run.due("report"),
        claims=f"{results}/claims.json",
        figures=expand(f"{figures}/{{name}}.{{kind}}", name=run.pictures, kind=["svg", "txt"]),
        tables=expand(f"{figures}/{{name}}.{{kind}}", name=run.tables, kind=["csv", "txt"]),
    output:
        f"{results}/report.html",
        run.note("report"),
    params:
        key=run.keys["report"],
        names=[*run.pictures, *run.tables],
    log:
        f"{results}/logs/report.log",
    shell:
        "{confee} make-report {run.plan_file} {params.key} {params.names} 2> {log}"
