# One figure or table a job. The text of ../caption.rst is what config["captions"] says, see Snakefile.

def marked(path, kind):
    """A file that `snakemake --report` is to show."""
    return report(
        path,
        caption="../caption.rst",
        category=lambda at: recipe(at.name).section,
        labels=lambda at: {"shows": recipe(at.name).title, "kind": kind},
    )


rule figure:
    input:
        due=lambda at: run.due(at.name),
        results=lambda at: run.rests_on(at.name),
    output:
        files=[
            *multiext(f"{figures}/{{name}}", ".pdf", ".png"),
            marked(f"{figures}/{{name}}.svg", "figure"),
            f"{figures}/{{name}}.txt",
        ],
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
        files=[
            marked(f"{figures}/{{name}}.csv", "table"),
            *multiext(f"{figures}/{{name}}", ".md", ".tex", ".txt"),
        ],
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


rule album:
    input:
        due=run.due("album"),
        figures=expand(f"{figures}/{{name}}.{{kind}}", name=run.pictures, kind=["pdf", "txt"]),
        tables=expand(f"{figures}/{{name}}.{{kind}}", name=run.tables, kind=["tex", "txt"]),
    output:
        file=f"{figures}/all.tex",
        note=run.note("album"),
    params:
        key=run.keys["album"],
    log:
        f"{results}/logs/album.log",
    shell:
        "{confee} make-album {run.plan_file} {params.key} {output.file} 2> {log}"
