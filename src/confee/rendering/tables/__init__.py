"""One table a file: from data frames to a frame of text, written as CSV, Markdown or LaTeX."""

from confee.rendering.tables.write import save, to_csv, to_latex, to_markdown

__all__ = ["save", "to_csv", "to_latex", "to_markdown"]
