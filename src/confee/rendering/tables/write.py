"""Tables of text as CSV, Markdown and LaTeX (booktabs).

A cell is plain text. Formulas are written as in the paper's source between dollars, with `O~` for
its soft O; columns may be grouped: a column named `group: name` stands under a common head.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from confee.core.errors import ConfeeError
from confee.rendering.files import origin
from confee.rendering.words import COMMANDS, FORMULA
from confee.simulation.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": "$|$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
}
SIGNS = {
    "\N{MINUS SIGN}": "-",
    "×": r"\times ",
    "·": r"\cdot ",
    "±": r"\pm ",
    "√": r"\surd ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "≈": r"\approx ",
    "∝": r"\propto ",
    "→": r"\to ",
    "∞": r"\infty ",
    "∅": r"\emptyset ",
    "′": r"\prime ",
    "Ω": r"\Omega ",
    "Δ": r"\Delta ",
    "β": r"\beta ",
    "ε": r"\varepsilon ",
    "μ": r"\mu ",
}
"""Signs that pdflatex has in formulas only."""
BREAK = r"\\{}"
"""A new line in a cell; bare, it would take a bracket at the start of that line for itself."""
PAGE, LETTERS = 46, 105
"""Lines of a table that fit on a page of nine inches below a caption; letters in a line."""
QUOTIENT = re.compile(r"\(([^()]+) / ([^()]+)\)")
INTERVAL = re.compile(r"^(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]$")


def to_csv(table: pd.DataFrame) -> str:
    """Return the table for programs: formulas keep their dollars."""
    return _soft(table.to_csv(index=False, lineterminator="\n"))


def to_markdown(table: pd.DataFrame) -> str:
    """Return the table for GitHub, with padded columns."""
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
    """Return a `table*` that needs only booktabs; rows past a page go into another one.

    A group's columns become lines of one column. Where the table's `attrs` have `widths` (of the
    columns, in text widths) its cells are paragraphs.
    """
    head, shape, rows = (_paragraphs if "widths" in table.attrs else _stacks)(table)
    floats = []
    for count, page in enumerate(_pages(rows)):
        lines = [r"\begin{table*}[tp]", r"\centering", r"\scriptsize"]
        lines.append(r"\setlength{\tabcolsep}{1.8pt}")
        if caption and count:
            lines += [r"\addtocounter{table}{-1}", r"\caption{(continued)}\smallskip"]
        elif caption:
            lines.append(rf"\caption{{{caption}}}\smallskip")
        if label and not count:
            lines.append(rf"\label{{{label}}}")
        lines += [
            rf"\begin{{tabular}}{{@{{}}{shape}@{{}}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
        ]
        lines += [rf"{row} \tabularnewline \addlinespace[2pt]" for row in page]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table*}"]
        floats.append("\n".join(lines))
    return "\n\n".join(floats) + "\n"


class _Row(NamedTuple):
    text: str
    lines: int


def _pages(rows: Sequence[_Row]) -> list[list[str]]:
    """Yield rows in groups that fit on a page, at least one row each."""
    pages: list[list[str]] = [[]]
    left = PAGE
    for row in rows:
        if row.lines > left and pages[-1]:
            pages.append([])
            left = PAGE
        pages[-1].append(row.text)
        left -= row.lines
    return pages


def _stacks(table: pd.DataFrame) -> tuple[str, str, list[_Row]]:
    """Head, shape and rows of a table whose groups of columns are piled up."""
    columns: dict[str, list[str]] = {}
    for name in table.columns:
        columns.setdefault(name.partition(": ")[0], []).append(name)
    rows = []
    for _, row in table.iterrows():
        cells = [
            _stack({name.partition(": ")[2]: str(row[name]) for name in names})
            for names in columns.values()
        ]
        rows.append(_Row(" & ".join(cells), max(cell.count(BREAK) for cell in cells) + 1))
    return " & ".join(map(_head, columns)), "l" * len(columns), rows


def _paragraphs(table: pd.DataFrame) -> tuple[str, str, list[_Row]]:
    """Those of a table of paragraphs; a first cell like the one above is said once."""
    widths = table.attrs["widths"]
    rows, first = [], None
    for row in table.itertuples(index=False):
        lines = max(
            math.ceil(len(str(cell)) / (LETTERS * w)) for cell, w in zip(row, widths, strict=True)
        )
        cells = [rf"\raggedright {_breakable(latex(str(cell)))}" for cell in row]
        if row[0] == first:
            cells[0] = ""
        first = row[0]
        rows.append(_Row(" & ".join(cells), max(lines, 1)))
    head = " & ".join(rf"\textbf{{{latex(str(name))}}}" for name in table.columns)
    return head, "".join(rf"p{{{width:g}\textwidth}}" for width in widths), rows


def _breakable(text: str) -> str:
    """Return a name whose line may break after an underscore, a slash or an equals sign."""
    return "".join(
        f"${part}$" if i % 2 else re.sub(r"(\\_|[/=])", r"\1\\allowbreak{}", part)
        for i, part in enumerate(FORMULA.split(text))
    )


def _stack(cells: dict[str, str]) -> str:
    """Return the cells of one row of a group, a line each, with their names where those are
    formulas; said once when all say the same."""
    first = next(iter(cells.values()))
    if len(set(cells.values())) == 1:
        return _lines(first, 12) if "$" not in first else latex(first)
    if not all("$" in name for name in cells):
        return _pile([latex(cell) for cell in cells.values()])
    body = BREAK.join(rf"{latex(name)}: & {latex(cell)}" for name, cell in cells.items())
    return rf"\begin{{tabular}}[t]{{@{{}}l@{{ }}l@{{}}}}{body}\end{{tabular}}"


def latex(text: str) -> str:
    r"""Return a cell or a caption: formulas between dollars are kept, all else is escaped; so is
    what stands there and is no formula, as \input is none."""
    match = INTERVAL.match(text)
    if match:
        return r"${}$ {{\tiny$[{},{}]$}}".format(*match.groups())
    parts = enumerate(FORMULA.split(text))
    return "".join(_set(part) if i % 2 else _text(part) for i, part in parts)


def _set(part: str) -> str:
    known = "^^" not in part and COMMANDS.issuperset(re.findall(r"\\([A-Za-z@]+)", part))
    return f"${_formula(part)}$" if known else _text(f"${part}$")


def _formula(part: str) -> str:
    typeset = _soft(QUOTIENT.sub(r"\\bigl(\\frac{\1}{\2}\\bigr)", part))
    return "".join(SIGNS.get(letter, letter) for letter in typeset)


def _text(part: str) -> str:
    signs = {sign: f"${escaped.strip()}$" for sign, escaped in SIGNS.items()}
    bare = part.replace(r"\$", "$")  # as looks.plain writes it
    return "".join((SPECIAL | signs).get(letter, letter) for letter in bare)


def save(
    table: pd.DataFrame,
    path: str | Path,
    provenance: Mapping[str, str],
    caption: str = "",
    label: str = "",
) -> None:
    """Write .csv, .md or .tex, whole or not at all; the last two say where they come from."""
    path = Path(path)
    about = origin(provenance)
    match path.suffix:
        case ".csv":
            text = to_csv(table)
        case ".md":
            text = to_markdown(table) + (f"\n{caption}\n" if caption else "")
            text += f"\n<!-- {about.replace('>', '&gt;')} -->\n"
        case ".tex":
            text = f"% {about}\n" + to_latex(table, latex(caption), label)
        case other:
            raise ConfeeError(f"{path}: a table is .csv, .md or .tex, not {other or 'bare'}")
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def _soft(text: str) -> str:
    """Return the soft O as TeX writes it."""
    return text.replace("O~", r"\tilde{O}")


def _bar(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def _head(text: str) -> str:
    """Return a bold head that makes no column wider than its longest word."""
    return _lines(text, 0, bold=True)


def _lines(text: str, width: int, bold: bool = False) -> str:
    """Break text at spaces and hyphens into lines of at most `width` letters, or one word."""
    parts = re.findall(r"\$[^$]*\$|[^ -]+-?|-", text)
    width = max([width, *map(len, parts)])
    lines = [""]
    for part in parts:
        joined = lines[-1] + ("" if lines[-1][-1:] in ("", "-") else " ") + part
        lines[-1:] = [joined] if len(joined) <= width else [lines[-1], part]
    cells = [rf"\textbf{{{latex(line)}}}" if bold else latex(line) for line in lines]
    if len(cells) == 1:
        return cells[0]
    return _pile(cells)


def _pile(cells: list[str]) -> str:
    """Return lines stacked in one cell."""
    body = BREAK.join(cells)
    return rf"\begin{{tabular}}[t]{{@{{}}l@{{}}}}{body}\end{{tabular}}"
