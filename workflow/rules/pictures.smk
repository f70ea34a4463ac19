# Each figure and table is a job. ../caption.rst shows config["captions"], see the Snakefile.

shown = {"caption": "../caption.rst", "category": lambda at: exhibit(at.name).section}


rule figure:
    input:
        lambda at: handoff.inputs_of(at.name, *handoff.rests_on[at.name]),
    output:
        files=[
            *multiext(f"{figures}/{{name}}", ".pdf", ".png"),
            report(
                f"{figures}/{{name}}.svg",
                **shown,
                labels=lambda at: {"shows": exhibit(at.name).title, "kind": "figure"},
            ),
            f"{figures}/{{name}}.txt",
        ],
        note=handoff.note("{name}"),
    params:
        plan=handoff.plan_file,
        key=lambda at: handoff.keys[at.name],
    log:
        f"{results}/logs/{{name}}.log",
    wildcard_constraints:
        name="|".join(FIGURES.names),
    shell:
        "confee make-picture {params.plan} {params.key} {wildcards.name} {output.files} 2> {log}"


rule table:
    input:
        lambda at: handoff.inputs_of(at.name, *handoff.rests_on[at.name]),
    output:
        files=[
            report(
                f"{figures}/{{name}}.csv",
                **shown,
                labels=lambda at: {"shows": exhibit(at.name).title, "kind": "table"},
            ),
            *multiext(f"{figures}/{{name}}", ".md", ".tex", ".txt"),
        ],
        note=handoff.note("{name}"),
    params:
        plan=handoff.plan_file,
        key=lambda at: handoff.keys[at.name],
    log:
        f"{results}/logs/{{name}}.log",
    wildcard_constraints:
        name="|".join(TABLES.names),
    shell:
        "confee make-picture {params.plan} {params.key} {wildcards.name} {output.files} 2> {log}"


rule album:
    input:
        handoff.inputs_of(
            "album",
            *expand(f"{figures}/{{name}}.{{kind}}", name=handoff.pictures, kind=["pdf", "txt"]),
            *expand(f"{figures}/{{name}}.{{kind}}", name=handoff.tables, kind=["tex", "txt"]),
        ),
    output:
        file=f"{figures}/all.tex",
        note=handoff.note("album"),
    params:
        plan=handoff.plan_file,
        key=handoff.keys["album"],
    log:
        f"{results}/logs/album.log",
    shell:
        "confee make-album {params.plan} {params.key} {output.file} 2> {log}"
