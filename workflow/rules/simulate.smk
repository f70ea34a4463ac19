# Jobs that simulate missing cells. A job's name is a hash of what it makes. Its file is `ancient`,
# so that names decide what is simulated again, and dates do not.

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
