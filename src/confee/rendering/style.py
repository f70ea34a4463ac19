"""One look for all pictures: sizes, fonts, and what each policy is drawn with, everywhere.

Intervals are always drawn, theory is dashed, the lower bound dotted. Colours are Okabe and Ito's
and, past those, Tol's: safe for colour-blind readers; markers and line styles differ as well.
"""

from __future__ import annotations

import functools
import hashlib
import math
import pickle
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from confee.errors import ConfeeError
from confee.rendering.files import origin
from confee.simulation.files import write_whole

WIDTH = 5.5
"""Inches: the text width of a NeurIPS paper."""

INK = "#222222"
GREY = "#777777"
THEORY: dict[str, Any] = {"color": INK, "linestyle": (0, (4, 2.2)), "linewidth": 1.0}
BOUND: dict[str, Any] = {"color": INK, "linestyle": (0, (1, 1.6)), "linewidth": 1.2}

RC: Any = {
    # STIX comes with matplotlib: a Times to go with the paper's, the same on every machine
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "legend.frameon": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.2,
    "figure.dpi": 150,
    "savefig.dpi": 200,
    "savefig.bbox": None,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "confee",
    "text.usetex": False,
    "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": True,
}

# ------------------------------------------------------------------ who is drawn with what


class Look(NamedTuple):
    """How a label is drawn: the same in every picture."""

    color: str
    marker: Any
    linestyle: Any
    linewidth: float = 1.1


SOLID = "-"
LONG: Any = (0, (9, 1.5))
DOT: Any = (0, (7, 1.2, 1.2, 1.2))
DOTS: Any = (0, (7, 1.2, 1.2, 1.2, 1.2, 1.2))

LOOKS = {
    "hyque": Look("#0072B2", "o", SOLID, 1.8),
    "hyque_calibrated": Look("#332288", "s", DOT, 1.4),
    "baque": Look("#56B4E9", "v", SOLID),
    "odque": Look("#CC79A7", "^", SOLID),
    "rexp3b": Look("#D55E00", "D", SOLID, 1.8),
    "rexp3b(pool=set)": Look("#E69F00", "d", DOT),
    "ucb1": Look("#882255", "P", LONG),
    "sw_ucb": Look("#00A878", "X", SOLID),
    "rexp3": Look("#1C1AD0", ">", DOTS),
    "exp3": Look("#C65D3E", "H", LONG),
    "exp3_s": Look("#241B4D", (6, 1, 0), DOT),
    "d_ucb": Look("#43D883", (3, 1, 0), DOT),
    "bob_sw_ucb": Look("#295981", "$B$", DOTS),
    "cbm_ucb": Look("#25D8D0", "8", LONG),
    "master": Look("#A50C2A", (4, 1, 0), SOLID),
    "glr_ucb": Look("#3268D5", "$G$", DOT),
    "cusum_ucb": Look("#C423A5", "$C$", DOTS),
    "m_ucb": Look("#AB350C", "$M$", LONG),
    "random_restart": Look("#24D7A9", "$R$", DOTS),
    "ucb1_leader": Look("#BF31FE", "$u$", DOT),
    "sw_ucb_leader": Look("#35A756", "$L$", DOT),
    "random_restart_unaware": Look("#47B3C6", "$U$", DOTS),
    "greedy_spend": Look("#CDBB55", "<", LONG),
    "uniform": Look("#777777", "h", SOLID),
    "oracle": Look("#000000", "*", DOTS),
    "informed": Look("#4A2A0A", "p", DOTS),
}

OTHERS = [
    Look(color, marker, linestyle)
    for linestyle in (DOTS, LONG, DOT)
    for marker in (">", "8", "H", "$\\times$", "$+$")
    for color in ("#117733", "#AA4499", "#661100", "#4477AA", "#BBAA00", "#44AA99", "#AA3377")
]
"""For labels that have no entry above: chosen by their hash."""

NAMES = {
    "hyque": "HyQue",
    "hyque_calibrated": "HyQue, calibrated",
    "hyque_tuned": "HyQue, tuned",
    "baque": "BaQue",
    "odque": "OdQue",
    "rexp3b": "Rexp3B",
    "rexp3": "Rexp3",
    "ucb1": "UCB1",
    "sw_ucb": "SW-UCB",
    "ucb1_leader": "UCB1, leader",
    "sw_ucb_leader": "SW-UCB, leader",
    "d_ucb": "D-UCB",
    "exp3": "Exp3",
    "exp3_s": "Exp3.S",
    "glr_ucb": "GLR-UCB",
    "cusum_ucb": "CUSUM-UCB",
    "m_ucb": "M-UCB",
    "cbm_ucb": "CBM-UCB",
    "master": "MASTER",
    "random_restart": "random restart",
    "random_restart_unaware": "random restart, unaware",
    "bob_sw_ucb": "BOB-SW-UCB",
    "hyque_blind": "HyQue, blind",
    "hyque_discarding": "HyQue, discarding",
    "sw_ucb_copied": "SW-UCB, copied",
    "sw_ucb_misled": "SW-UCB, misled",
    "greedy_spend": "greedy spend",
    "oful": "OFUL",
    "oful_restarted": "OFUL, restarted",
    "hyque_oful": "HyQue over OFUL",
    "sw_linucb": "SW-LinUCB",
    "d_linucb": "D-LinUCB",
    "glm_ucb": "GLM-UCB",
    "glm_ucb_restarted": "GLM-UCB, restarted",
    "hyque_glm_ucb": "HyQue over GLM-UCB",
    "falcon": "FALCON",
    "falcon_restarted": "FALCON, restarted",
    "hyque_falcon": "HyQue over FALCON",
    "q_ucb": "Q-UCB",
    "q_ucb_restarted": "Q-UCB, restarted",
    "hyque_q_ucb": "HyQue over Q-UCB",
    "uniform_contextual": "uniform, contextual",
    "uniform_episodic": "uniform, episodic",
}

PALETTE = ["#D55E00", "#009E73", "#0072B2", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"]
"""For things that are not policies (orders, adversaries): Okabe and Ito's, no yellow."""

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
DASHES: list[Any] = [SOLID, LONG, DOT, DOTS]


def display(label: str) -> str:
    """The name a reader sees: `rexp3b(pool=set)` is Rexp3B (pool=set), `ucb1(plan=front)` UCB1
    (front)."""
    policy, bracket, options = label.replace("plan=", "").partition("(")
    name = NAMES.get(policy, policy.replace("_", " "))
    return plain(f"{name} ({options}" if bracket else name)


def plain(text: str) -> str:
    """Text that mathtext leaves alone."""
    return text.replace("$", r"\$")


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Label -> look. Known labels are fixed; others go by their hash, unlike each other."""
    found: dict[str, Look] = {}
    for label in sorted(set(labels)):
        if label in LOOKS:
            found[label] = LOOKS[label]
            continue
        first = int.from_bytes(hashlib.sha256(label.encode()).digest()[:4]) % len(OTHERS)
        probes = (OTHERS[(first + step) % len(OTHERS)] for step in range(len(OTHERS)))
        taken = {(look.color, look.marker) for look in found.values()}
        free = (look for look in probes if (look.color, look.marker) not in taken)
        found[label] = next(free, OTHERS[first])
    return found


def ordered(labels: Iterable[str]) -> list[str]:
    """Labels in the order of the palette (the paper's policies first), then the others by name."""
    known = list(LOOKS)
    return sorted(
        set(labels), key=lambda name: (known.index(name) if name in known else len(known), name)
    )


# ------------------------------------------------------------------ figures

P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under the style, leaving the caller's settings as they were."""

    @functools.wraps(draw)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(RC)
            return draw(*args, **kwargs)

    return inner


def figure(height: float, **pads: float) -> Figure:
    """An empty figure of a text's width and this height (inches), part of no global state."""
    return Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(**pads))  # type: ignore[arg-type]


def empty(note: str) -> Figure:
    """A small picture that says why there is nothing to see."""
    fig = figure(0.8)
    fig.text(0.5, 0.5, note, ha="center", va="center", color=GREY, style="italic")
    return fig


@styled
def save(fig: Figure, path: str | Path, provenance: Mapping[str, str]) -> None:
    """Write PDF or PNG (by suffix), whole or not at all; equal pictures give equal bytes.

    `provenance` should hold `data` (the hash of what was drawn) and `command` (what remakes it);
    it is kept in the file: `provenance(path)` reads it back.
    """
    path = Path(path)
    text = origin(provenance)
    match path.suffix:
        case ".pdf":
            metadata: dict[str, Any] = {
                "CreationDate": None,
                "Title": path.stem,
                "Subject": provenance.get("command", ""),
                "Keywords": text,
            }
        case ".png":
            metadata = {"Title": path.stem, "confee": text}
        case other:
            raise ConfeeError(f"{path}: a figure is saved as .pdf or .png, not {other or 'bare'}")
    # A copy: laying a figure out moves it a little, and its second file would show that.
    copy = pickle.loads(pickle.dumps(fig))
    write_whole(path, lambda part: copy.savefig(part, format=path.suffix[1:], metadata=metadata))


def provenance(path: str | Path) -> str:
    """The JSON line that `save` put into a PDF or PNG; empty where there is none."""
    data = Path(path).read_bytes()
    if data.startswith(b"%PDF"):
        found = re.search(rb"/Keywords \(((?:\\.|[^\\)])*)\)", data, re.DOTALL)
        return re.sub(rb"\\(.)", rb"\1", found[1], flags=re.DOTALL).decode() if found else ""
    place = data.find(b"tEXtconfee\0")
    if place < 0:
        return ""
    length = int.from_bytes(data[place - 4 : place])
    return data[place + 4 : place + 4 + length].partition(b"\0")[2].decode()


def legend_below(fig: Figure, handles: list, columns: int, title: str | None = None) -> None:
    """A legend under the axes in at most so many columns; the figure grows by what it needs."""
    if not handles:
        return
    texts = [handle.get_label() for handle in handles]
    while columns > 1 and _legend_width(texts, columns) > WIDTH:
        columns -= 1
    rows = math.ceil(len(handles) / columns) + (title is not None)
    width, height = fig.get_size_inches()
    fig.set_size_inches(width, height + 0.155 * rows + 0.05)
    fig.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        title=title,
        handlelength=2.8,
        columnspacing=1.6,
        labelspacing=0.35,
        borderaxespad=0.2,
    )


def _legend_width(texts: list[str], columns: int) -> float:
    """Inches, roughly: the longest text of each column at 8 points, and its sample."""
    rows = math.ceil(len(texts) / columns)
    longest = [max(map(len, texts[i : i + rows])) for i in range(0, len(texts), rows)]
    return sum(0.052 * letters + 0.58 for letters in longest)


def remark(text: str) -> Line2D:
    """A line of the legend without a sample: what the axes can't show."""
    return Line2D([], [], linestyle="none", label=text)


def no_regret(labels: Iterable[str]) -> list[Line2D]:
    """Legend entries for policies without regret, which a log axis can't show."""
    return [
        Line2D([], [], color=look.color, marker=look.marker, linestyle=look.linestyle,
               linewidth=look.linewidth, alpha=0.4, label=f"{display(label)}: regret 0, not drawn")
        for label, look in looks(labels).items()
    ]  # fmt: skip
