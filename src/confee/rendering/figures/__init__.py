"""One figure a file: pure functions from data frames to matplotlib figures."""
