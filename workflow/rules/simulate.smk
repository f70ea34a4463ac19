# Jobs that play what is missing. A job is named by a hash of what it makes, so its file is
# `ancient`: names decide what is played again, dates do not.

rule kernels:
    output:
        handoff.stamps or "results/jobs/none.compiled",
    log:
        f"{results}/logs/kernels.log",
    shell:
        "confee compile {output} 2> {log}"


rule calibrate:
    input:
        job=ancient(f"{handoff.inputs}/{{job}}.json"),
        kernel=lambda at: [ancient(file) for file in handoff.needs.get(at.job, [])],
    output:
        "results/calibration/{job}.json",
    log:
        "results/logs/calibrate/{job}.log",
    shell:
        "confee do {input.job} 2> {log}"


rule simulate:
    input:
        job=ancient(f"{handoff.inputs}/{{job}}.json"),
        needs=lambda at: [ancient(file) for file in handoff.needs.get(at.job, [])],
    output:
        temp(touch("results/jobs/{job}.done")),
    log:
        "results/logs/simulate/{job}.log",
    wildcard_constraints:
        job="[0-9a-f]{16}",
    shell:
        "confee do {input.job} 2> {log}"
