# Cells that are missing, in jobs. A job's name is a hash of what it makes, so `ancient`: whether
# something is to be played again is decided by names, never by dates.

rule kernels:
    output:
        told.stamps or "results/jobs/none.compiled",
    log:
        f"{results}/logs/kernels.log",
    shell:
        "confee compile {output} 2> {log}"


rule calibrate:
    input:
        job=ancient(f"{told.inputs}/{{job}}.json"),
        kernel=lambda at: [ancient(file) for file in told.needs.get(at.job, [])],
    output:
        "results/calibration/{job}.json",
    log:
        "results/logs/calibrate/{job}.log",
    benchmark:
        "results/logs/calibrate/{job}.tsv"
    shell:
        "confee do {input.job} 2> {log}"


rule simulate:
    input:
        job=ancient(f"{told.inputs}/{{job}}.json"),
        needs=lambda at: [ancient(file) for file in told.needs.get(at.job, [])],
    output:
        temp(touch("results/jobs/{job}.done")),
    log:
        "results/logs/simulate/{job}.log",
    benchmark:
        "results/logs/simulate/{job}.tsv"
    wildcard_constraints:
        job="[0-9a-f]{16}",
    shell:
        "confee do {input.job} 2> {log}"
