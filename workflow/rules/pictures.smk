# One figure or table a job.

rule figure:
    input:
        due=lambda at: run.due(at.name),
        results=lambda at: run.rests_on(at.name),
    output:
        files=multiext(f"{figures}/{{name}}", ".pdf", ".png", ".svg", ".txt"),
        note=run.note("{name}"),
    params:
        key=lambda at: run.keys[at.name],
    log:
        f"{results}/logs/{{name}}.log",
    benchmark:
        f"{results}/logs/{{name}}.tsv"
    wildcard_constraints:
        name="|".join(FIGURES),
    shell:
        "{confee} make-picture {run.plan_file} {params.key} {wildcards.name} {output.files} 2> {log}"


rule table:
    input:
        due=lambda at: run.due(at.name),
        results=lambda at: run.rests_on(at.name),
    output:
        files=multiext(f"{figures}/{{name}}", ".csv", ".md", ".tex", ".txt"),
        note=run.note("{name}"),
    params:
        key=lambda at: run.keys[at.name],
    log:
        f"{results}/logs/{{name}}.log",
    benchmark:
        f"{results}/logs/{{name}}.tsv"
    wildcard_constraints:
        name="|".join(TABLES),
    shell:
        "{confee} make-picture {run.plan_file} {params.key} {wildcards.name} {output.files} 2> {log}"
