"""conf -> cells -> regret -> exponents -> verdicts -> figures, tables and the report.

    snakemake --cores 8
    snakemake --cores 8 --config overrides="experiment=smoke grid.T=[1e4,1e5]"
"""

import os
import shlex
import sys

from confee.config import reproduce
from confee.workflow import captions, mode, runlock
from confee.workflow.handoff import VARIABLE, read
from confee.core.errors import ConfeeError, printable
from snakemake_logger_plugin_confee import SHOWN

# Only a Snakemake that executes jobs may change results. Others look (-n, --dag, --report), or are
# started by it for a job on another machine.
looks = workflow.output_settings.dryrun or (workflow.is_main_process and not mode.plays())
executes = workflow.is_main_process and not looks
try:
    # A user's own policies are imported with these modules and may raise errors.
    from confee.rendering import FIGURES, TABLES, exhibit
    from confee.rendering.catalogue import VERDICTS

    handoff = None if workflow.is_main_process else read()
    if handoff is None:
        from confee.workflow import estimate
        from confee.workflow.planning import Workflow

        if executes:
            runlock.hold()
        # Snakemake has a number of nodes only where jobs run on other machines.
        remote = bool(workflow.resource_settings.nodes)
        planned = Workflow(config, remote=remote, inputs=mode.inputs())
        planned.prepare(dry=not executes)
        handoff = planned.handoff
    if workflow.is_main_process:
        os.environ[VARIABLE] = planned.handoff_file
        SHOWN.workflow = f'{handoff.name} (choose with --config overrides="experiment=...")'
        SHOWN.time = estimate.estimator(planned, workflow.resource_settings)
        SHOWN.read_on = planned.read_on()
        for warning in planned.warnings:
            print(printable(warning), file=sys.stderr)
except (ConfeeError, OSError) as error:
    sys.exit(f"confee: {error}")
except KeyboardInterrupt:
    sys.exit("confee: stopped")

# Rules call the confee of this Python. It replaces the shell, so that a signal reaches it.
python = shlex.quote(sys.executable)
shell.prefix('confee() {{ exec {python} -m confee "$@"; }};')
results, figures = f"results/{handoff.name}", f"figures/{handoff.name}"
if mode.reports():
    if looks and (foreign := planned.foreign()):
        command = reproduce.snakemake(planned.experiment.overrides)
        reason = f"missing, or of another configuration or code: {', '.join(foreign)}"
        sys.exit(f"confee: {results}: {reason}; run first: {command}")
    config["captions"] = captions.captions(handoff.name, handoff.pictures, handoff.tables)


include: "workflow/rules/simulate.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/pictures.smk"
include: "workflow/rules/report.smk"


# These take seconds, less than a job waits in the queue of a cluster.
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
        expand(f"{figures}/{{name}}.pdf", name=handoff.pictures),
        expand(f"{figures}/{{name}}.{{kind}}", name=handoff.tables, kind=["csv", "md", "tex"]),
        [f"{figures}/all.tex"] if handoff.pictures or handoff.tables else [],


onsuccess:
    planned.close()
