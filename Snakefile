"""conf -> cells -> regret -> exponents -> verdicts -> tables and figures.

    snakemake --cores 8
    snakemake --cores 8 --config overrides="experiment=smoke grid.T=[1e4,1e5]"
"""

import os
import shlex
import sys

from confee.config import reproduce
from confee.workflow import runlock
from confee.core.errors import ConfeeError, printable
from confee.workflow import captions, mode
from confee.workflow.handoff import VARIABLE, read
from snakemake_logger_plugin_confee import TOLD

# Only a run owns the plan: no look at one (-n, --dag, --report), nor a job on another machine.
look = workflow.output_settings.dryrun or (workflow.is_main_process and not mode.plays())
main = workflow.is_main_process and not look
try:
    # In here, because policies of one's own are imported with them, and may be at fault.
    from confee.rendering import FIGURES, TABLES, exhibit
    from confee.rendering.catalogue import VERDICTS

    told = None if workflow.is_main_process else read()
    if told is None:
        from confee.workflow import estimate
        from confee.workflow.run import Run

        if main:
            runlock.hold()
        # Snakemake counts nodes where jobs run on other machines, and only there.
        run = Run(config, remote=bool(workflow.resource_settings.nodes), inputs=mode.inputs())
        told = run.told
        run.prepare(dry=not main)
    if workflow.is_main_process:
        os.environ[VARIABLE] = run.told_file
        TOLD.of = f'{told.name} (another: --config overrides="experiment=...")'
        TOLD.time, TOLD.standing = estimate.teller(run, workflow.resource_settings), run.read_on()
        for said in run.warnings:
            print(printable(said), file=sys.stderr)
except (ConfeeError, OSError) as error:
    sys.exit(f"confee: {error}")
except KeyboardInterrupt:
    sys.exit("confee: stopped")

# What rules call: this Python's confee, in place of the shell, so that a signal reaches it.
python = shlex.quote(sys.executable)
shell.prefix('confee() {{ exec {python} -m confee "$@"; }};')
results, figures = f"results/{told.name}", f"figures/{told.name}"
if mode.reports():
    if look and (foreign := run.foreign()):
        run_it = reproduce.snakemake(run.experiment.overrides)
        said = f"not made from this configuration and code: {', '.join(foreign)}"
        sys.exit(f"confee: {results}: {said}; run it: {run_it}")
    config["captions"] = captions.captions(told.name, told.pictures, told.tables)


include: "workflow/rules/simulate.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/pictures.smk"
include: "workflow/rules/report.smk"


# On a cluster these stay here: they take seconds, and each would wait in the queue for the one before.
localrules:
    all,
    regret,
    slopes,
    claims,
    figure,
    table,
    album,
    report,


rule all:
    default_target: True
    input:
        f"{results}/claims.json",
        f"{results}/report.html",
        expand(f"{figures}/{{name}}.pdf", name=told.pictures),
        expand(f"{figures}/{{name}}.{{kind}}", name=told.tables, kind=["csv", "md", "tex"]),
        [f"{figures}/all.tex"] if told.pictures or told.tables else [],


onsuccess:
    run.close()
