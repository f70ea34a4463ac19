"""Tables of text as CSV, Markdown and LaTeX (booktabs).

A cell is plain text. Formulas are written as in the paper's source between dollars, with `O~` for
its soft O; columns may be grouped: a column named `group: name` stands under a common head.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pandas as pd

from confee.errors import ConfeeError
from confee.rendering.files import origin
from confee.simulation.files import write_whole

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "\N{MINUS SIGN}": "$-$",
}  # fmt: skip
BREAK = r"\\{}"
"""A new line; the braces, because a bracket would be a length."""

NARROW = 12
"""Letters at which cells are broken where nothing wider fits."""

LETTERS, LINES = 97, 48
"""Letters of all columns together, and lines of all rows, that fit a page."""

QUOTIENT = re.compile(r"\(([^()]+) / ([^()]+)\)")
INTERVAL = re.compile(r"^(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]$")


def to_csv(table: pd.DataFrame) -> str:
    """The table for a machine: formulas keep their dollars."""
    return table.to_csv(index=False, lineterminator="\n")


def to_markdown(table: pd.DataFrame) -> str:
    """The table as GitHub shows it, its columns padded for those who read the source."""
    head = [_bar(str(name)) for name in table.columns]
    body = [[_bar(_soft(str(cell))) for cell in row] for row in table.itertuples(index=False)]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [head, *body]
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def to_latex(table: pd.DataFrame, caption: str = "", label: str = "") -> str:
    """A `table*` that needs only booktabs; a group's columns become lines of one column.

    What the first column says is said once for the rows below it. A table too long for a page goes
    on in further ones of the same number.
    """
    columns: dict[str, list[str]] = {}
    for name in table.columns:
        columns.setdefault(name.partition(": ")[0], []).append(name)
    width = NARROW if len(columns) < len(table.columns) else _width(table)
    text = ""
    for place, (start, stop) in enumerate(_pages(table, width)):
        lines = [r"\begin{table*}[t]", r"\centering", r"\scriptsize"]
        lines.append(r"\setlength{\tabcolsep}{1.8pt}")
        if place:
            lines += [r"\addtocounter{table}{-1}", r"\caption{(continued)}\smallskip"]
        elif caption:
            lines.append(rf"\caption{{{caption}}}\smallskip")
        if label and not place:
            lines.append(rf"\label{{{label}}}")
        lines += [rf"\begin{{tabular}}{{@{{}}{'l' * len(columns)}@{{}}}}", r"\toprule"]
        lines.append(" & ".join(_head(head) for head in columns) + r" \\")
        lines.append(r"\midrule")
        lines += _rows(table[start:stop], columns, width)
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table*}"]
        text += "\n".join(lines) + "\n"
    return text


def _rows(table: pd.DataFrame, columns: Mapping[str, list[str]], width: int) -> list[str]:
    """The rows of a page; one-line rows stand close under what the first column says."""
    lines: list[str] = []
    firsts = [str(cell) for cell in table.iloc[:, 0]]
    for i, (_, row) in enumerate(table.iterrows()):
        cells = [_stack({name.partition(": ")[2]: str(row[name]) for name in names}, width)
                 for names in columns.values()]  # fmt: skip
        if i and firsts[i] == firsts[i - 1]:
            cells[0] = ""
        close = firsts[i : i + 2] == [firsts[i]] * 2 and _height(row, width) == 1
        lines.append(" & ".join(cells) + r" \\" + ("" if close else r" \addlinespace[2pt]"))
    return lines


def _width(table: pd.DataFrame) -> int:
    """Letters at which cells are broken, such that the columns fit a text's width together."""
    for width in (40, 32, 26, 22, 18, 15):
        if sum(_widest(table[name], width) for name in table) <= LETTERS:
            return width
    return NARROW


def _widest(column: pd.Series, width: int) -> float:
    """Letters of the widest line of a column; an interval's are small."""
    lines = [line for cell in column.astype(str) for line in _broken(cell, width)]
    return max((len(line) * (0.75 if INTERVAL.match(line) else 1) for line in lines), default=0)


def _height(row: pd.Series, width: int) -> int:
    """Lines of a row, but for its first cell."""
    return max((len(_broken(str(cell), width)) for cell in row.iloc[1:]), default=1)


def _pages(table: pd.DataFrame, width: int) -> list[tuple[int, int]]:
    """The rows (from, to) of each page, not more than LINES lines."""
    starts, used = [0], 0
    for i in range(len(table)):
        height = _height(table.iloc[i], width)
        if used + height > LINES and used:
            starts.append(i)
            used = 0
        used += height
    return list(pairwise([*starts, len(table)]))


def _stack(cells: dict[str, str], width: int) -> str:
    """The cells of one row of a group, a line each; said once when all say the same."""
    first = next(iter(cells.values()))
    if len(set(cells.values())) == 1:
        return _lines(first, width)
    body = r"\\".join(rf"{latex(name)}: & {latex(cell)}" for name, cell in cells.items())
    return rf"\begin{{tabular}}[t]{{@{{}}l@{{ }}l@{{}}}}{body}\end{{tabular}}"


def latex(text: str) -> str:
    """One cell: what stands between dollars is kept, all else is escaped."""
    found = INTERVAL.match(text)
    if found:
        return r"${}$ {{\tiny$[{},{}]$}}".format(*found.groups())
    parts = re.split(r"(\$[^$]+\$)", text)
    return "".join(
        _soft(QUOTIENT.sub(r"\\bigl(\\frac{\1}{\2}\\bigr)", part))
        if len(part) > 2 and part[0] == part[-1] == "$"
        else "".join(SPECIAL.get(letter, letter) for letter in part)
        for part in parts
    )


def save(
    table: pd.DataFrame, path: str | Path, provenance: Mapping[str, str], caption: str = "",
    label: str = "",
) -> None:  # fmt: skip
    """Write .csv, .md or .tex, whole or not at all; the last two say where they come from."""
    path = Path(path)
    said = origin(provenance)
    match path.suffix:
        case ".csv":
            text = to_csv(table)
        case ".md":
            text = to_markdown(table) + (f"\n{caption}\n" if caption else "")
            text += f"\n<!-- {said.replace('--', '- -')} -->\n"
        case ".tex":
            text = f"% {said}\n" + to_latex(table, latex(caption), label)
        case other:
            raise ConfeeError(f"{path}: a table is .csv, .md or .tex, not {other or 'bare'}")
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def _soft(text: str) -> str:
    """The soft O as TeX has it."""
    return text.replace("O~", r"\tilde{O}")


def _bar(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def _head(text: str) -> str:
    """A bold head that makes no column wider than its longest word."""
    return _lines(text, 0, bold=True)


def _lines(text: str, width: int, bold: bool = False) -> str:
    """Text broken into lines of at most `width` letters, or one word."""
    lines = _broken(text, width)
    cells = [rf"\textbf{{{latex(line)}}}" if bold else latex(line) for line in lines]
    if len(cells) == 1:
        return cells[0]
    return rf"\begin{{tabular}}[t]{{@{{}}l@{{}}}}{BREAK.join(cells)}\end{{tabular}}"


def _broken(text: str, width: int) -> list[str]:
    """Lines broken at spaces and hyphens, but for formulas and intervals."""
    if INTERVAL.match(text):
        return [text]
    parts = re.findall(r"\$[^$]*\$|[^ -]+-?|-", text)
    width = max([width, *map(len, parts)])
    lines = [""]
    for part in parts:
        joined = lines[-1] + ("" if lines[-1][-1:] in ("", "-") else " ") + part
        lines[-1:] = [joined] if len(joined) <= width else [lines[-1], part]
    return lines
