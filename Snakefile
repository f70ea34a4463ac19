"""conf -> cells -> regret -> exponents -> verdicts -> tables and figures.

    snakemake --cores 8
    snakemake --cores 8 --config overrides="experiment=smoke grid.T=[1e4,1e5]"
"""

import shlex
import sys

from confee import pipeline
from confee.errors import ConfeeError

try:
    pipeline.hold_lock()
    run = pipeline.Run(config)
    run.prepare()
except ConfeeError as error:
    sys.exit(f"confee: {error}")

confee = f"{shlex.quote(sys.executable)} -m confee"
results, figures = f"results/{run.name}", f"figures/{run.name}"


include: "workflow/rules/simulate.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/pictures.smk"


rule all:
    default_target: True
    input:
        f"{results}/claims.json",
        expand(f"{figures}/{{name}}.pdf", name=run.pictures),
        expand(f"{figures}/table1.{{kind}}", kind=["csv", "md", "tex"]),


rule clean:
    shell:
        "{confee} clean"


onsuccess:
    pipeline.close(run.name)
