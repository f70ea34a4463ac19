"""What a workflow does, in plain words: one list for its progress and for the report's times.

Snakemake's logger imports this module at its start, so it imports nothing.
"""

LABELS = {
    "kernels": "compiling kernels",
    "calibrate": "calibrating thresholds",
    "simulate": "simulating",
    "regret": "collecting runs",
    "slopes": "fitting exponents",
    "claims": "judging claims",
    "figure": "drawing figures",
    "table": "writing tables",
    "report": "writing the report",
    "album": "writing all.tex",
}
"""Rule of the Snakefile -> its label."""
