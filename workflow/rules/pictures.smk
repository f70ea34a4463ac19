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
        due=lambda at: told.due(at.name),
        results=lambda at: told.rests_on[at.name],
    output:
        files=[
            *multiext(f"{figures}/{{name}}", ".pdf", ".png"),
            marked(f"{figures}/{{name}}.svg", "figure"),
            f"{figures}/{{name}}.txt",
        ],
        note=told.note("{name}"),
    params:
        key=lambda at: told.keys[at.name],
    log:
        f"{results}/logs/{{name}}.log",
    benchmark:
        f"{results}/logs/{{name}}.tsv"
    wildcard_constraints:
        name="|".join(FIGURES),
    shell:
        "{confee} make-picture {told.plan_file} {params.key} {wildcards.name} {output.files} 2> {log}"


rule table:
    input:
        due=lambda at: told.due(at.name),
        results=lambda at: told.rests_on[at.name],
    output:
        files=[
            marked(f"{figures}/{{name}}.csv", "table"),
            *multiext(f"{figures}/{{name}}", ".md", ".tex", ".txt"),
        ],
        note=told.note("{name}"),
    params:
        key=lambda at: told.keys[at.name],
    log:
        f"{results}/logs/{{name}}.log",
    benchmark:
        f"{results}/logs/{{name}}.tsv"
    wildcard_constraints:
        name="|".join(TABLES),
    shell:
        "{confee} make-picture {told.plan_file} {params.key} {wildcards.name} {output.files} 2> {log}"


rule album:
    input:
        due=told.due("album"),
        figures=expand(f"{figures}/{{name}}.{{kind}}", name=told.pictures, kind=["pdf", "txt"]),
        tables=expand(f"{figures}/{{name}}.{{kind}}", name=told.tables, kind=["tex", "txt"]),
    output:
        file=f"{figures}/all.tex",
        note=told.note("album"),
    params:
        key=told.keys["album"],
    log:
        f"{results}/logs/album.log",
    shell:
        "{confee} make-album {told.plan_file} {params.key} {output.file} 2> {log}"
