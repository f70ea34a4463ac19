"""Studies, one file each: draws that claims need and that are no cell (no policy plays a path).

A module has `run(**parameters)`, which returns rows (dicts of numbers and words, the parameters
among them); all its randomness comes from `stream("study", <name>, parameters)`.
"""
