"""Figures of rays, on curves whose exponents are known."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from confee.core.errors import ConfeeError
from confee.evidence import Evidence
from confee.evidence.curve import curve, measure
from confee.evidence.parts import part_worst
from confee.rendering import FIGURES, style
from confee.rendering.figures import fits, ray_parts, rays
from confee.rendering.words import plain
from confee.workflow.frames import Frames
from confee.workflow.planning import Workflow
from support.pictures import check_texts
from support.shown import caption, figure

MINUS = "\N{MINUS SIGN}"
VARIABLES = ("V", "B", "K", "T")
EXPONENTS = {
    "hyque": {"B": -0.2, "V": 0.45, "K": 0.15, "T": 0.02},
    "rexp3b": {"B": -1 / 3, "V": 1 / 3, "K": 0.0, "T": 0.0},
    "sw_ucb": {"B": -1 / 3, "V": 1 / 3, "K": 0.0, "T": 0.0},
    "ucb1_restarted": {"B": -1 / 3, "V": 1 / 3, "K": 0.0, "T": 0.0},
    "random_restart": {"B": -0.2, "V": 1 / 3, "K": 0.0, "T": 0.0},
    "sw_ucb_misled": {"B": -1 / 3, "V": 2 / 3, "K": 0.0, "T": 0.0},
    "sw_ucb_copied": {"B": -1 / 3, "V": 1 / 3, "K": 1 / 3, "T": 0.0},
    "sw_ucb_overtold": {"B": -1 / 3, "V": 1 / 3, "K": 0.0, "T": 0.4},
    "uniform": {"B": 0.0, "V": 0.0, "K": 0.0, "T": 0.0},
}
"""Of R/T in B and V, of the ratio to SW-UCB's in K, of R/T in T beyond mixing."""

SIZES = {
    "V_at_1e6": ("V", [(4, 10**6, float(V), 10.0) for V in (1, 2, 4, 8, 16, 32)]),
    "B_at_V4": ("B", [(4, B, 4.0, 10.0) for B in (10**4, 2 * 10**4, 4 * 10**4, 8 * 10**4)]),
    "B_at_V16": ("B", [(4, 10**4 * 2**k, 16.0, 10.0) for k in range(5)]),
    "B_far_V16": ("B", [(4, 10**4 * 2**k, 16.0, 10.0) for k in range(7)]),
    "K_at_1e5": ("K", [(K, 10**5, 4.0, 10.0) for K in (2, 4, 8, 16, 32)]),
    "T_at_1e6": ("T", [(4, 10**6, 4.0, ratio) for ratio in (8.0, 16.0, 31.0)]),
}


def regret_per_round(label: str, K: int, B: float, V: float, ratio: float) -> float:
    powers = EXPONENTS[label]
    own = B ** powers["B"] * max(V, 0.25) ** powers["V"] * K ** (1 / 3 + powers["K"])
    return 0.5 * own * ratio ** powers["T"] * (1 - 1 / ratio)


def frames(labels=tuple(EXPONENTS), bent: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, points); V = 0 at the ends of rays. The curve of `bent` is no line."""
    points, cells = [], {}
    for ray, (variable, sizes) in SIZES.items():
        still = [(K, B, 0.0, ratio) for K, B, _, ratio in (sizes[0], sizes[-1])]
        for label in labels:
            for K, B, V, ratio in [*sizes, *(still if variable != "T" else [])]:
                for phase, octave in enumerate((2**-0.25, 2**0.25) if V else (1.0,)):
                    budget = round(B * octave)
                    point = {"B": B, "V": V, "K": K, "T": ratio * B}[variable]
                    cell = {"K": K, "T": round(ratio * budget), "B": budget, "V": V}
                    points.append(
                        {
                            "label": label,
                            "policy": label,
                            "axis": ray,
                            **cell,
                            "phase": phase,
                            "variable": variable,
                            "point": float(point),
                        }
                    )
                    y = regret_per_round(label, K, budget, V, ratio)
                    if label == bent:
                        y *= math.exp(0.1 * math.log(budget * max(V, 1) * K) ** 2)
                    cells[label, *cell.values()] = {
                        "label": label,
                        "policy": label,
                        **cell,
                        "regret": y * cell["T"],
                        "se": 0.01 * y * cell["T"],
                        "seeds": 16,
                        "saturated": label == "uniform",
                        "at_limit": label == "hyque" and V > 4,
                        "eligible": label != "uniform",
                        "in_range": True,
                        "short_batch": False,
                        "edge": False,
                        "ceiling": False,
                    }
    return pd.DataFrame(cells.values()), pd.DataFrame(points)


class Data:
    """As confee.workflow.frames.Frames, of these frames."""

    def __init__(self, *given: pd.DataFrame) -> None:
        self.worst, self.points = given


@pytest.fixture(scope="module")
def data() -> Data:
    return Data(*frames())


def by_label(data: Data, variable: str) -> dict[str, dict[str, rays.Line]]:
    found = rays.lines(data.worst, data.points, variable)
    return {where: {line.label: line for line in some} for where, some in found.items()}


@pytest.mark.parametrize("variable", ["B", "V"])
def test_exponents_are_those_of_the_evidence(data, variable):
    for some in by_label(data, variable).values():
        assert {"hyque", "rexp3b", "sw_ucb"} <= set(some)
        assert "uniform" not in some
        for label, line in some.items():
            assert line.fit.exponent == pytest.approx(EXPONENTS[label][variable], abs=1e-3)
            assert abs(line.fit.rate) == pytest.approx(1 / 3)
    ray = {"B": "B_far_V16", "V": "V_at_1e6"}[variable]
    cells = curve(data.worst, data.points, "hyque", ray).entering()
    expected = measure(cells.x, cells.y, cells.se, cells.seeds, cells.point, cells.phase)
    line = list(by_label(data, variable).values())[-1]["hyque"]
    assert line.fit[:3] == (expected.slope, expected.low, expected.high)


def test_rays_that_differ_in_length_share_a_panel_and_show_the_longest(data):
    panels = by_label(data, "B")
    assert list(panels) == ["$K = 4$, $V = 4$, $T = 10\\,B$", "$K = 4$, $V = 16$, $T = 10\\,B$"]
    assert [len(some["hyque"].table) for some in panels.values()] == [4, 7]
    short = data.points[~((data.points["axis"] == "B_far_V16") & (data.points["label"] == "hyque"))]
    some = by_label(Data(data.worst, short), "B")["$K = 4$, $V = 16$, $T = 10\\,B$"]
    assert [len(some[label].table) for label in ("hyque", "sw_ucb")] == [5, 7]


def test_along_K_it_is_the_ratio_to_sw_ucb(data):
    (some,) = by_label(data, "K").values()
    assert "sw_ucb" not in some
    for label, line in some.items():
        assert line.fit.exponent == pytest.approx(EXPONENTS[label]["K"], abs=1e-3)
    assert some["ucb1_restarted"].table["y"].to_list() == pytest.approx([1.0] * 5, rel=1e-6)
    assert {line.fit.rate for line in some.values()} == {0.0}


def test_along_T_growth_is_that_of_regret_per_idle_round(data):
    (some,) = by_label(data, "T").values()
    for label, line in some.items():
        grown = (31 / 8) ** EXPONENTS[label]["T"]
        assert line.fit.exponent == pytest.approx(grown, rel=1e-3)
        assert line.table["y"].iloc[0] == 1
        assert line.table["y"].iloc[-1] == pytest.approx(grown, rel=1e-3)
    assert some["sw_ucb"].table["x"].to_list() == pytest.approx([8, 16, 31])


@pytest.mark.parametrize("variable", ["B", "V"])
def test_regret_at_the_rate_is_a_flat_line(data, variable):
    for some in by_label(data, variable).values():
        flat = some["sw_ucb"].table["y"]
        assert flat.to_list() == pytest.approx([flat.iloc[0]] * len(flat), rel=1e-6)
        assert some["hyque"].table["y"].is_monotonic_increasing


def test_without_a_line_there_is_no_exponent():
    given = Data(*frames(("hyque", "sw_ucb", "random_restart"), bent="hyque"))
    panels = by_label(given, "B")
    bent = panels["$K = 4$, $V = 16$, $T = 10\\,B$"]["hyque"]
    assert (bent.fit, bent.why) == (None, fits.NOT_STRAIGHT)
    said = [text.get_text() for ax in figure("ray-B", given).axes for text in ax.texts]
    assert said.count(fits.NOT_STRAIGHT) == 1  # four points cannot tell that it is bent
    assert any(text.startswith("0.00 [") for text in said)


def test_a_dot_marks_points_whose_gap_is_its_familys_largest(data):
    for name, some in (("ray-V", 3), ("ray-T", 0)):
        fig = figure(name, data)
        dots = [line for ax in fig.axes for line in ax.lines if line.get_marker() == "."]
        assert sum(len(line.get_xdata()) for line in dots) == some
        told = [text.get_text() for legend in fig.legends for text in legend.get_texts()]
        assert any(text.startswith("dot:") for text in told) == bool(some)


@pytest.mark.parametrize("variable", VARIABLES)
def test_controls_are_named_as_such(data, variable):
    fig = figure(f"ray-{variable}", data)
    names = {text.get_text() for ax in fig.axes for text in ax.texts}
    assert any(name.endswith("\ncontrol: must hold") for name in names)
    assert any(name.endswith("\ncontrol: must fail") for name in names)


@pytest.mark.parametrize("variable", VARIABLES)
def test_no_texts_of_rays_collide(data, variable):
    check_texts(figure(f"ray-{variable}", data))


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_caption_names_the_ray_with_its_interval_in_at_most_60_words(data, variable):
    name = f"ray-{variable}"
    said = plain(caption(name, data))
    assert len(said.split()) <= 60
    assert "HyQue's " in said
    assert said.count("[") == 2
    assert "positive control" in said
    assert FIGURES[name].axes == (f"ray:{variable}",)


def test_parts_of_regret_have_a_panel_each(data):
    labels = ray_parts.LABELS_SHOWN
    parts = [
        frames(labels, bent="hyque" if part == "error" else "")[0].assign(part=part)
        for part in ("query", "error", "drift")
    ]
    parts[0]["regret"] *= 1 + (parts[0]["V"] > 4) * 1e-3
    given = SimpleNamespace(part_worst=pd.concat(parts), points=data.points)
    said = plain(caption("ray-parts", given))
    assert len(said.split()) <= 60
    assert "query regret V^0.12 [" in said
    assert f"error regret ({fits.NOT_STRAIGHT}), drift regret V^" in said
    check_texts(figure("ray-parts", given))
    fig = figure("ray-parts", given)
    titles = [ax.get_title(loc="left").partition(":")[0] for ax in fig.axes]
    assert [title for title in titles if title] == ["query regret", "error regret", "drift regret"]
    assert ray_parts.finding(given.part_worst[:0], data.points) == ray_parts.NOTHING
    ray_parts.draw(given.part_worst, data.points[:0]).draw_without_rendering()


def test_parts_are_those_that_the_claims_judge():
    """The worst case of a part that the figure shows is that of its claim, cell by cell."""
    runs = []
    for label in ("hyque", "sw_ucb", "uniform"):
        for adversary, scale in (("switching", 1.0), ("fall", 1.2)):
            for seed in range(4):
                regret = 100.0 * scale + seed
                runs.append(
                    {
                        "label": label,
                        "policy": label,
                        "K": 2,
                        "T": 1000,
                        "B": 100,
                        "V": 2.0,
                        "adversary": adversary,
                        "adversary.gap": 0.5,
                        "seed": seed,
                        "queries": 100,
                        "regret": regret,
                        "regret_query": 0.1 * regret,
                        "regret_error": 0.6 * regret,
                        "regret_drift": 0.3 * regret,
                    }
                )
    regret = pd.DataFrame(runs)
    points = regret.drop_duplicates("label")[["label", "policy", "K", "T", "B", "V"]]
    points = points.assign(axis="v", variable="V", point=2.0, phase=0)
    given = Frames({"choose": 4})
    vars(given).update(regret=regret, points=points)  # instead of files
    evidence = Evidence(regret, regret[:0], regret[:0], points, choose=4)
    for part, mine in given.part_worst.groupby("part"):
        worst, _ = part_worst(evidence, str(part), ray_parts.LABELS_SHOWN)
        pd.testing.assert_frame_equal(
            mine.drop(columns="part").reset_index(drop=True), worst, check_dtype=False
        )
    assert set(given.part_worst["part"]) == {"query", "error", "drift"}


def test_the_finding_takes_the_ray_with_the_largest_excess(data):
    said = rays.finding(data.worst, data.points, "B")
    for law in ("$B^{0.13}$ [0.13, 0.14]", "$B^{-0.20}$", "$B^{-0.33}$", "$B^{0.00}$ ["):
        assert law in said
    assert said.startswith("At $K = 4$, $V = ")
    controls = data.points[data.points["label"].isin(["sw_ucb", "random_restart"])]
    assert "only controls" in rays.finding(data.worst, controls, "B")


def test_controls_are_shown_on_rays_though_claims_alone_play_them():
    """And nothing else that claims add."""
    rows = [
        {
            "label": label,
            "policy": label,
            "axis": axis,
            "variable": variable,
            "point": 1.0,
            "phase": 0,
            "K": 2,
            "T": 10,
            "B": 5,
            "V": 1.0,
        }
        for label in ("hyque", "sw_ucb", "random_restart", "greedy_spend")
        for axis, variable in (("T", ""), ("B_at_V4", "B"))
    ]
    points = Frames({"choose": 4, "shown": ["hyque"], "points": rows}).points
    found = set(zip(points["label"], points["axis"], strict=True))
    assert found == {
        ("hyque", "T"),
        ("hyque", "B_at_V4"),
        ("sw_ucb", "B_at_V4"),
        ("random_restart", "B_at_V4"),
    }


def test_a_figure_of_rays_is_drawn_where_one_was_played():
    pictures = Workflow({"overrides": "experiment=smoke figures=[]"}).pictures
    assert {f"ray-{variable}" for variable in VARIABLES} | {"regret-T"} <= set(pictures)
    assert not {"regret-B", "regret-V", "regret-K"} & set(pictures)
    assert "horizon" in pictures
    assert "decades" not in pictures  # for experiments with longer rays
    only = Workflow({"overrides": "experiment=smoke figures=[horizon,decades]"}).pictures
    assert set(only) == {"horizon", "decades"}
    with pytest.raises(ConfeeError, match=r"figures=ray-V: nothing to draw; .* ray along V"):
        Workflow({"overrides": "experiment=tiny figures=[ray-V]"})


@pytest.mark.parametrize("variable", VARIABLES)
def test_odd_rays_are_drawn_too(data, variable):
    worst, points = data.worst, data.points
    odd = {
        "nothing": (worst[:0], points),
        "no ray": (worst, points.drop(columns="variable")),
        "saturated": (worst.assign(saturated=True, eligible=False), points),
        "one seed": (worst.assign(se=math.nan, seeds=1), points),
        "one phase": (worst, points[points["phase"] == 0]),
        "two points": (worst, points[points.groupby("axis")["point"].rank("dense") <= 2]),
        "no controls": (worst, points[points["label"].isin(["hyque", "rexp3b"])]),
        "one label": (worst, points[points["label"] == "random_restart"]),
        "stationary": (
            worst.assign(V=0.0).drop_duplicates(["label", "K", "T", "B"]),
            points.assign(V=0.0),
        ),
    }
    if variable == "V":
        del odd["stationary"]
    for given in odd.values():
        rays.draw(*given, variable).draw_without_rendering()
        assert rays.finding(*given, variable).endswith(".")
    nothing = rays.draw(worst, points[:0], variable)
    assert [text.get_text() for text in nothing.texts] == [rays.NOTHING.format(variable)]
    assert nothing.get_size_inches()[0] == style.WIDTH
    assert np.isfinite(nothing.get_size_inches()).all()
