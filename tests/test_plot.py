"""One's own figures in one line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from confee.core.errors import ConfeeError
from confee.rendering import plot


def runs():
    rate = {(B, V): (4 * V / B) ** (1 / 3) for B in (1e4, 2e4, 4e4, 8e4) for V in (1, 4)}
    rows = [
        (label, "switching", 4, 10 * B, B, V, seed, rate[B, V] * 10 * B * (1 + seed / 50))
        for label in ("ucb1", "NA")
        for B, V in rate
        for seed in range(6)
    ]
    columns = ["label", "adversary", "K", "T", "B", "V", "seed", "regret"]
    frame = pd.DataFrame(rows, columns=columns).assign(policy=lambda t: t["label"])
    frame.attrs["confee"] = {"config": {"seeds": {"choose": 2}}}
    return frame


def drawn(ax):
    """Its lines, without the bars of intervals."""
    lines = [line for line in ax.lines if len(line.get_xdata()) == 4]
    return [line for line in lines if line.get_linestyle() != "None"]


def test_a_panel_for_each_choice_of_the_others_and_a_line_for_each_policy():
    figure = plot.regret(runs(), axis="B")
    assert [ax.get_title() for ax in figure.axes] == ["K=4, V=1, T/B=10", "K=4, V=4, T/B=10"]
    for ax, V in zip(figure.axes, (1, 4), strict=True):
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert len(drawn(ax)) == 2
        for line in drawn(ax):
            B = np.asarray(line.get_xdata(), float)
            assert np.asarray(line.get_ydata()) == pytest.approx(
                1.07 * (4 * V / B) ** (1 / 3), rel=0.02
            )


def test_policies_are_chosen_and_what_is_not_there_is_said():
    figure = plot.regret(runs(), axis="B", policies=["NA"])
    assert len(drawn(figure.axes[0])) == 1
    with pytest.raises(ConfeeError, match=r"^policies: nobody: not played; there are NA, ucb1"):
        plot.regret(runs(), policies=["nobody"])
    with pytest.raises(ConfeeError, match=r"^axis=X: must be one of B, V, K, T"):
        plot.regret(runs(), axis="X")
    with pytest.raises(ConfeeError, match=r"^axis=V: no policy has 4 values"):
        plot.regret(runs(), axis="V")
