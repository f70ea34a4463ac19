# The report, which is the only result that contains times.

rule report:
    input:
        handoff.inputs_of(
            "report",
            f"{results}/claims.json",
            *expand(f"{figures}/{{name}}.{{kind}}", name=handoff.pictures, kind=["svg", "txt"]),
            *expand(f"{figures}/{{name}}.{{kind}}", name=handoff.tables, kind=["csv", "txt"]),
        ),
    output:
        f"{results}/report.html",
        handoff.note("report"),
    params:
        plan=handoff.plan_file,
        key=handoff.keys["report"],
        names=[*handoff.pictures, *handoff.tables],
    log:
        f"{results}/logs/report.log",
    shell:
        "confee make-report {params.plan} {params.key} {params.names} 2> {log}"
