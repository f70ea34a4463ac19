# One figure or table a job.

rule figure:
    input:
        f"{results}/slopes.csv",
        lambda at: pipeline.sources(pipeline.figure_module(at.name)),
    output:
        f"{figures}/{{name}}.pdf",
        f"{figures}/{{name}}.png",
    log:
        f"{results}/logs/{{name}}.log",
    wildcard_constraints:
        name="|".join(pipeline.DRAWN),
    shell:
        "{confee} draw {run.name} {wildcards.name} {output} 2> {log}"


rule table:
    input:
        f"{results}/slopes.csv",
        pipeline.sources("confee.rendering.tables.table1"),
    output:
        expand(f"{figures}/table1.{{kind}}", kind=["csv", "md", "tex"]),
    log:
        f"{results}/logs/table1.log",
    shell:
        "{confee} draw {run.name} table1 {output} 2> {log}"
