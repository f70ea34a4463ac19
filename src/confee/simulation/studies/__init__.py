"""Studies, one file each: draws that claims need and that are no cell (no policy plays a path).

A module has `run(**parameters)`, which returns rows (dicts of numbers and words, the parameters
among them), and `SMALLEST`, parameters that compile its kernels in no time. All randomness comes
from `stream("study", <name>, parameters)`.
"""
