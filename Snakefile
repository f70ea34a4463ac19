"""conf -> cells -> regret -> exponents -> verdicts -> tables and figures.

    snakemake --cores 8
    snakemake --cores 8 --config overrides="experiment=smoke grid.T=[1e4,1e5]"
"""

import os
import shlex
import sys

from confee import runlock
from confee.errors import ConfeeError

# Only the run itself writes: not a look at it (-n), nor a job of it on another machine.
main = workflow.is_main_process and not workflow.output_settings.dryrun
try:
    # In here, because policies of one's own are imported with them, and may be at fault.
    from confee.rendering import FIGURES, TABLES
    from confee.workflow.jobs import stamp
    from confee.workflow.run import Run

    run = Run(config)
    if main:
        runlock.hold()
    run.prepare(dry=not main)
    if workflow.is_main_process:
        for label in run.experiment.unplayed:
            print(f"policies.{label}: plays nowhere; name it in a map's policies", file=sys.stderr)
except (ConfeeError, OSError) as error:
    sys.exit(f"confee: {error}")

confee = f"{shlex.quote(sys.executable)} -m confee"
results, figures = f"results/{run.name}", f"figures/{run.name}"


include: "workflow/rules/simulate.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/pictures.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        f"{results}/claims.json",
        f"{results}/report.html",
        expand(f"{figures}/{{name}}.pdf", name=run.pictures),
        expand(f"{figures}/{{name}}.{{kind}}", name=run.tables, kind=["csv", "md", "tex"]),


rule clean:
    shell:
        f"{confee} clean --run-of {os.getpid()}"


onsuccess:
    run.close()
