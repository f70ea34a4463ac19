"""Generated tables of docs/horizon.md, what-it-found.md and erratum.md, on synthetic results."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from confee.claims import ledger
from confee.claims.judging.finding import Correction, Finding
from confee.evidence import slopes
from confee.simulation.grid import Ray
from support.curves import flat, frames, power, rate, times
from support.floor import judged, stale_rows

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def saved(folder, worst, points):
    folder.mkdir(parents=True)
    made = {"worst": worst, "points": points, "slopes": slopes(worst, points)}
    for name, frame in made.items():
        frame.to_csv(folder / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    budgets = [32_000 * 2**k for k in range(11)]
    rays = {f"B_at_V{V}": Ray([4], budgets, [V], [10]) for V in (4, 16)}
    laws = {
        "hyque": times(lambda K, T, B, V: 2.0 + 0 * B, power(B=1 / 3)),
        "sw_ucb": rate,
        "uniform": flat(),
    }
    saved(root / "horizon", *frames(rays, laws, noise=1e-4))
    about = {"experiment": "made-up", "toy": False, "code": "0" * 64}
    gap = Correction("here", "printed", "mended", "gap", "reason", "effect")
    findings = [
        judged(stale_rows(0.0, 0.001)),
        Finding("one", "s", "here; there", "fails", "p", "m", "h"),
        Finding("two", "s", "p", "fails", "p", "m", "h", corrections=(gap,)),
        Finding("three", "s", "p", "undecided", "p", "m", "h"),
        Finding("four", "s", "q, without logarithms", "undecided", "p", "m", "h"),
    ]
    laws = {"hyque": power(B=1 / 3), "sw_ucb": rate}
    saved(root / "paper", *frames({"K": Ray([2, 4, 10], [320_000], [4], [10])}, laws, noise=1e-4))
    (root / "paper/claims.json").write_text(json.dumps(ledger.to_dict(findings, about, {})))
    return root


def block(text, name):
    """The rows of a table on a page, without its head."""
    (found,) = re.findall(f"<!-- table: {name} -->\n(.*?)<!-- end -->", text, re.S)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in found.splitlines()
        if line.startswith("|")
    ]
    assert len({len(row) for row in rows}) == 1
    return pd.DataFrame(rows[2:], columns=rows[0])


def test_every_block_of_the_pages_is_filled(tables, results):
    pages = {name: (DOCS / name).read_text(encoding="utf-8") for name in tables.PAGES}
    named = re.findall(r"<!-- table: (.+) -->", "".join(pages.values()))
    assert sorted(named) == sorted(tables.TABLES)
    filled = {name: tables.fill(page, results) for name, page in pages.items()}
    horizon, findings = filled["horizon.md"], filled["what-it-found.md"]
    erratum = filled["erratum.md"]
    steps = block(horizon, "horizon-steps")
    assert list(steps.columns) == [
        "V",
        "policy",
        "B = 6.4e4 to 5.1e5",
        "B = 5.1e5 to 4.1e6",
        "B = 4.1e6 to 3.3e7",
        "outcome",
    ]
    mine = steps[steps["policy"] == "`hyque`"]
    assert mine["V"].tolist() == ["4", "16"]
    assert mine["outcome"].str.startswith("constant from 3.2e4 on, at 0.00 [").all()
    ideal = steps[steps["policy"] == "`sw_ucb`"].iloc[0]
    assert ideal.iloc[2].startswith("-0.33 [-0.3")
    shares = block(findings, "floor-shares")
    assert shares["V"].tolist() == ["1", "4", "16", "64"]
    assert shares["its exponent in B"].str.startswith("0.00 [").all()
    assert tables.fill(horizon, results) == horizon
    assert "| here | printed | mended: *holds* | **gap** | effect |" in erratum
    assert block(findings, "ledger").to_numpy().tolist() == [
        ["**gap**", "fails", "holds", "`two` (p)"],
        ["**horizon**", "fails", "", "`hyque-floor` (ours)"],
        ["**none known**", "undecided", "", "`three` (p), `four` (q)"],
        ["**none**", "fails", "", "`one` (here)"],
    ]
    constants = block(findings, "constants").set_index("$K$")
    assert constants.loc["4", "Largest found: SW-UCB"] == "1.00"
    assert "uniform" not in steps["policy"].to_string()
    assert "inf" not in findings


def test_without_results_a_page_stays_as_it_is(tables, results, tmp_path):
    for name in tables.PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        assert tables.fill(text, tmp_path) == text
        filled = tables.fill(text, results)
        assert tables.fill(filled, tmp_path) == filled
