# The page that people read. It is the only result that contains times.

rule report:
    input:
        inputs_of(
            "report",
            f"{results}/claims.json",
            *expand(f"{figures}/{{name}}.{{kind}}", name=told.pictures, kind=["svg", "txt"]),
            *expand(f"{figures}/{{name}}.{{kind}}", name=told.tables, kind=["csv", "txt"]),
        ),
    output:
        f"{results}/report.html",
        told.note("report"),
    params:
        plan=told.plan_file,
        key=told.keys["report"],
        names=[*told.pictures, *told.tables],
    log:
        f"{results}/logs/report.log",
    shell:
        "confee make-report {params.plan} {params.key} {params.names} 2> {log}"
