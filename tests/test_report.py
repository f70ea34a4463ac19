"""The report: a page from data made by hand, what gathers it, and a real browser looking at it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import threading
from collections.abc import Sequence
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from snakemake.cli import parse_config

from confee.claims import ledger
from confee.claims.judging.finding import OUTCOMES, Control, Correction, Finding, Reading, Step
from confee.config import experiments, reproduce
from confee.rendering import FIGURES, TABLES, exhibit
from confee.rendering.catalogue import BASICS, VERDICTS, WHO
from confee.rendering.report import Frame, Report, Shown, Times, first_number, horizon, render
from confee.rendering.report.formulas import marked
from confee.rendering.verdicts import ALL, MARKS, weight
from confee.workflow import costs, planning, results
from confee.workflow import report as gathering
from confee.workflow.labels import LABELS
from confee.workflow.planning import Workflow

HOSTILE = '<script>document.title = "broken in"</script><img src="x">'
SVG = b"""<?xml version="1.0" encoding="utf-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 396 150" width="396pt" height="150pt">
<style>line { stroke: #0072B2; }</style><line x1="0" y1="0" x2="396" y2="150"/></svg>"""
WORST = "label,T,regret\nhyque,1000,12.5\n"

# --------------------------------------------------------------------------- a page made by hand


def correction(severity: str, **fields) -> Correction:
    usual = {
        "place": "Lemma 4.6",
        "printed": r"$\frac12\frac BT$",
        "mended": r"$\lceil B/T\rceil$",
        "reason": "the proof has it",
        "effect": "none at all",
    }
    return Correction(severity=severity, **(usual | fields))


def judged(id: str, outcome: str, **fields) -> Finding:
    usual = {
        "statement": "worst-case regret grows at most as K^(1/3) V^(1/3) T / B^(1/3)",
        "place": "Theorem 1",
        "prediction": "exponent in B at most -1/3",
        "measured": "B -0.379 [-0.607, -0.151], claimed <= -0.279",
        "horizon": "T up to 1e+08",
        "controls": (Control("uniform, exponent in B", "fails", True, 0.0),),
        "why": "its upper limit is below the margin",
        "interval": (-0.6, -0.1),
    }
    return Finding(id=id, as_printed=outcome, **(usual | fields))


def example() -> Report:
    """All that a page can show, short."""
    step, odd = Step("Pinsker", "holds", -0.98, "a | b"), Step("another", "of its own")
    readings = (Reading("`quota: block`", "fails", "19 of 248 runs"),)
    findings = [
        judged("hyque-rate/theory", "holds", numbers={"p_holm": 0.01}, steps=(step, odd)),
        judged(
            "hyque-floor",
            "fails",
            horizon="T up to 3e+09",
            measured="12 of 30",
            corrections=(correction("horizon", outcome="undecided"),),
        ),
        judged("rexp3b-rate", "undecided", measured="no fit", numbers={"p_holm": 0.2}),
        judged(
            "density",
            "vacuous",
            horizon="any T",
            statement=HOSTILE,
            decide=HOSTILE,
            controls=(),
            readings=readings,
            ours=True,
            corrections=(correction("constant", printed=HOSTILE), correction("typo")),
        ),
        judged(
            "idle-runs",
            "consistent",
            measured="3.5 of 4",
            horizon="T up to 2e+04",
            controls=(Control("b", "holds", False), Control("a", "fails")),
        ),
        judged(
            "query-runs",
            "fails",
            basis="counted",
            horizon="T up to 9",
            measured="9 of 9",
            corrections=(correction("gap", closed=True, shown="docs/proofs/x.md"),),
        ),
    ]
    hexes = "0123456789abcdef" * 4
    command = 'snakemake --cores 2 --config overrides="experiment=made-up"'
    about = {"command": command, "reading": "Dashed: $T^{-1/3}$. " + HOSTILE}
    heads = [f"column ${name}_V$" for name in "ABCDEFGHI"] + [
        "bound: rate",
        "bound: severity",
        "a: b",
    ]
    wide = [heads, ["-0.33 [-0.36, -0.30]"] * 8 + ["none", "fails", "none", "vacuous"]]
    return Report(
        experiment="made-up",
        headline="An experiment & its <b>title</b>.",
        toy=True,
        findings=findings,
        settle={v.id: command for v in findings},
        evidence={v.id: [{"file": "results/made-up/worst.csv", "sha256": hexes}] for v in findings},
        shown=[
            Shown(
                "regret-T",
                "Regret against $T$",
                BASICS,
                "HyQue falls as $T^{-0.18}$.",
                claims=("hyque-rate", "hyque-floor"),
                frames=("worst.csv",),
                svg=SVG,
                **about,
            ),
            Shown("table1", "Table 1", VERDICTS, "", claims=("density",), rows=wide, **about),
            Shown("shootout", "All", WHO, "All lose.", claims=(), svg=SVG, **about),
        ],
        frames=[
            Frame("worst.csv", WORST.encode(), 1, "results/made-up/worst.csv"),
            Frame("regret.csv", b"seed\n" + b"7\n" * 200_000, 200_000),
            Frame("huge.csv", os.urandom(1_200_000), 9, "results/made-up/huge.parquet"),
        ],
        command=command,
        config=f"name: made-up\nnote: {HOSTILE}\n" + "key: value\n" * 50,
        code="c0de" * 16,
        versions={"confee": "0.1.0", "Python": "3.12.1 on Linux x86_64"},
        seeds={"Choosing": "0 to 7"},
        times=Times([("simulating", 3, 60.0, 4000.5)], [("hyque: 2 units", 50.0, 61.0)], "A note."),
    )


class Parsed(HTMLParser):
    """Ids, links within the page, addresses, headings and tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.anchors: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src", "srcset", "action", "poster", "data", "xlink:href"):
                anchor = value.startswith("#")
                (self.anchors if anchor else self.addresses).append(value.removeprefix("#"))


@pytest.fixture(scope="module")
def made() -> str:
    return render(example())


def test_links_resolve_and_nothing_is_elsewhere(made):
    page = Parsed(made)
    assert len(page.ids) == len(set(page.ids))
    assert set(page.anchors) <= set(page.ids)
    assert {address.partition(":")[0] for address in page.addresses} == {"data"}
    assert "url(" not in made
    assert "@import" not in made
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_text_stays_text(made):
    assert made.count("<script") == 1
    assert made.count("&lt;script&gt;") >= 5
    assert "<b>" not in made
    assert "An experiment &amp; its &lt;b&gt;title&lt;/b&gt;" in made


def test_the_order_is_scoreboard_shootout_figures(made):
    order = ("scoreboard", "table-table1", "figure-shootout", "figure-regret-T", "made", "data")
    places = [made.index(f'id="{one}"') for one in order]
    assert places == sorted(places)


def test_a_claim_has_its_evidence_its_figure_and_its_command(made):
    start = made.index('id="evidence-hyque-rate/theory"')
    evidence = made[start : made.index("</tbody>\n", made.index("Judge again", start))]
    for said in (
        "Theorem 1",
        "its upper limit is below",
        "uniform, exponent in B (0): fails",
        'href="#figure-regret-T"',
        "Pinsker",
        "<td>of its own",
        "0123456789abcdef",
        "−0.98",
        "experiment=made-up",
    ):
        assert said in evidence.replace('<span class="badge plain">', ""), said
    assert "table-table1" not in evidence
    figure = made[made.index('id="figure-regret-T"') :]
    assert 'alt="HyQue falls as T^(−0.18)."' in figure[: figure.index("</figure>")]
    assert "#claim-hyque-floor" in figure[: figure.index("</figure>")]


def test_a_correction_and_a_reading_stand_beside_the_claim(made):
    start = made.index('id="claim-query-runs"')
    text = re.sub(r"<[^>]+>", " ", made[start : made.index("Judge again", start)])
    text = re.sub(r"\s+", " ", text)
    assert "× fails ! gap, closed" in text
    for said in (
        "fails, not true as printed",
        "Correction ! gap Lemma 4.6: the proof has it",
        "Effect none at all; the corrected",
        "✓ holds docs/proofs/x.md",
    ):
        assert said in text, said
    floor = made[made.index('id="claim-hyque-floor"') :][:3000]
    assert "not met at the horizons simulated" in floor
    assert 'data-severity="horizon"' in floor
    reading = made[made.index('id="claim-density"') :]
    assert reading.index("this project") < reading.index("19 of 248 runs")
    assert reading.index("Other interpretation") < reading.index("19 of 248 runs")
    assert made.count("Asked by") == 1


def test_the_head_counts_the_papers_claims_by_severity(made):
    head = made[: made.index('id="figure-')]
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", head))
    assert "the 5 claims of the paper; 1 more" in text
    for count, name in (
        (2, "× fails"),
        (1, "? undecided"),
        (0, "∅ vacuous"),
        (3, "✓ none"),
        (1, "⇥ horizon"),
        (1, "! gap"),
        (0, "× false"),
        (0, "c constant"),
    ):
        assert f" {count} {name} " in text, name
    assert "; 1 of them not settled" in text


def test_the_head_has_the_findings_with_links_to_their_claims(made):
    head = made[: made.index("<nav")]
    assert "<h1>Claims of Li and Li (NeurIPS 2025), tested</h1>" in head
    lines = [line for line in head.splitlines() if "#claim" in line and "<a" in line]
    claims = [re.findall(r'"#claim-([^"]+)"', line) for line in lines if "<p>" in line]
    assert claims == [["query-runs"], ["hyque-floor"], ["rexp3b-rate"]]
    ours = [dataclasses.replace(v, ours=True) for v in example().findings]
    page = render(dataclasses.replace(example(), findings=ours))
    assert "<h1>made-up</h1>" in page
    assert 'class="findings"' not in page


def test_the_foot_has_the_command_and_the_commit(made):
    foot = made[made.index("<footer>") :]
    assert "experiment=made-up" in foot
    assert "commit" not in foot
    foot = render(dataclasses.replace(example(), commit="c0ffee"))
    assert "<code>c0ffee</code>" in foot[foot.index("<footer>") :]


def test_a_commit_is_named_only_of_the_own_repository(monkeypatch, tmp_path):
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?|", gathering.commit())
    monkeypatch.setattr(gathering, "__file__", str(tmp_path / "report.py"))
    assert gathering.commit() == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gathering.commit() == ""


def test_a_rate_shows_the_ray_that_decided_and_both_controls():
    ray = {
        "ray": "B_at_V16",
        "verdict": "fails",
        "points": 6,
        "horizon": 10**7,
        "exponent": -0.184,
        "low": -0.226,
        "high": -0.142,
        "rate": -0.333,
        "allowance": 0.04,
        "straight": True,
        "excess": 0.109,
        "excess_low": 0.067,
        "excess_high": 0.151,
    }
    name = "B at V=16, T/B=10"
    both = (
        Control(f"random_restart, {name}", "fails", True, -0.2),
        Control(f"sw_ucb, {name}", "holds", False, -0.31),
    )
    rate = judged(
        "hyque-rate/theory",
        "fails",
        numbers={name: ray},
        interval=(0.067, 0.151),
        interval_of=f"excess of the exponent of {name}, margin 0.03",
        controls=both,
    )
    page = render(dataclasses.replace(example(), findings=[rate]))
    row = page[page.index('id="claim-hyque-rate/theory"') : page.index('id="evidence-hyque')]
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", row))
    assert f"{name}: −0.18 [−0.23, −0.14]" in text
    assert 'data-key="-0.184"' in row
    assert "1 of 2 as expected" in text
    evidence = page[page.index('id="evidence-hyque') :]
    assert "-0.379" in evidence.replace("−", "-")  # the opened row has every measurement
    text = re.sub(r"<[^>]+>", "", evidence)
    assert all(ledger.control_verdict(control) in text for control in both)
    assert f"{name}; exponent −0.18, 95 % CI [−0.23, −0.14], claimed at most −0.29." in text


def test_columns_of_a_group_share_a_head(made):
    table = made[made.index('id="table-table1"') :]
    table = table[: table.index("</table>")]
    head, body = table.split("<tbody>")
    assert '<th scope="colgroup" colspan="2">bound</th>' in head
    assert head.count("<th ") == 9 + 1 + 1 + 2
    assert '<th scope="col" rowspan="2">a: b</th>' in head
    assert body.count("<td") == 12
    assert 'class="badge vacuous"' in body
    assert 'class="badge none"' in body
    assert re.search(r'class="badge fails".*fails', body)
    assert body.count("<td>none</td>") == 1


def test_frames_are_whole_packed_or_named(made):
    assert 'download="worst.csv" href="data:text/csv;base64,' in made
    assert 'download="regret.csv.gz" href="data:application/gzip;base64,' in made
    assert 'download="huge' not in made
    assert "results/made-up/huge.parquet" in made


def test_a_run_without_verdicts_or_pictures_has_a_page():
    bare = dataclasses.replace(example(), findings=[], shown=[], frames=[], times=Times())
    page = Parsed(render(bare))
    assert set(page.anchors) <= set(page.ids)
    assert "scoreboard" not in page.ids


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            r"a $T^{-0.2}$ \$",
            "a <math><mrow><msup><mi>T</mi><mrow><mo>−</mo><mn>0.2</mn></mrow>"
            "</msup></mrow></math> $",
        ),
        ("-3 <= x-1, 5e-05", "−3 ≤ x-1, 5e-05"),
        ("B^(1/3)", marked("$B^{1/3}$")),
        ("2 eps^2, T eps / 8", marked(r"2 $\varepsilon^{2}$, T ε / 8")),
        ("rho^2", marked(r"$\rho^{2}$")),
        ("3 rho^ < 1, rho(t), T/sqrt(B)", "3 ρ\u0302 &lt; 1, ρ(t), T/√B"),
        (
            "$V_T^2$",
            "<math><mrow><msup><msub><mi>V</mi><mi>T</mi></msub><mn>2</mn></msup></mrow></math>",
        ),
        ("(K V/B)^0.5", marked("$(K V/B)^{0.5}$")),
        ("(K ln K)^(1/3)", marked(r"$(K \ln K)^{1/3}$")),
        (r"$\text{<b>&}$", "<math><mrow><mtext>&lt;b&gt;&amp;</mtext></mrow></math>"),
        (
            r"$\href{javascript:x}{y}$",
            "<math><mrow><mrow><mrow><mi>y</mi></mrow></mrow></mrow></math>",
        ),
        ("$x^$", "<code>x^</code>"),
    ],
)
def test_formulas(text, html):
    assert marked(text) == html


def test_the_soft_o_is_an_o_with_a_tilde():
    assert "<mover>" in marked("$O~(K^{1/3})$")


def test_what_columns_are_sorted_by():
    assert [first_number(t) for t in ("B -0.3 [1, 2]", "no fit", "T up to 1e+08", "K2: 5.")] == [
        "-0.3",
        "",
        "1e+08",
        "5",
    ]
    assert horizon("toy horizon (T up to 3): says nothing about larger ones") == "T up to 3"
    assert horizon("any T") == "any T"


# --------------------------------------------------------------------------- commands


OVERRIDES = [
    "experiment=smoke",
    "figures=[]",
    "seeds={choose: 2, estimate: 4}",
    "name='a b'",
    'name="$x`"',
    "grid.T=[1e3,2e3]",
    "name=a\\b",
    "name=it's",
]


def understood(command: str) -> list[str]:
    """The overrides that a run of this command is given."""
    words = shlex.split(command)
    given = parse_config([words[words.index("--config") + 1]])
    said = planning._overrides(given)
    return shlex.split(said) if isinstance(said, str) else said


@pytest.mark.parametrize("count", range(1, len(OVERRIDES) + 1))
def test_a_command_gives_a_run_its_overrides(count):
    given = OVERRIDES[:count]
    assert understood(reproduce.snakemake(shlex.join(given))) == given
    assert understood(reproduce.snakemake(shlex.join(given[-1:]), "x.pdf")) == given[-1:]


def test_a_plain_command_is_plain():
    said = reproduce.snakemake(shlex.join(["experiment=smoke", "figures=[block]"]))
    assert said == 'snakemake --cores 2 --config overrides="experiment=smoke figures=[block]"'
    assert reproduce.snakemake("", "figures/p/x.pdf") == "snakemake --cores 2 figures/p/x.pdf"


def test_a_claim_is_settled_again_under_the_runs_overrides():
    findings = example().findings
    overrides = "experiment=smoke seeds.choose=3 'figures=[block]' 'claims=[a,b]'"
    same = ["experiment=smoke", "seeds.choose=3"]
    alone = understood(ledger.settle(findings[1], overrides, findings))
    assert alone == [*same, "claims=[hyque-floor]"]
    # Findings that were corrected for being several have to be judged together.
    several = understood(ledger.settle(findings[2], overrides, findings))
    assert several == [*same, "claims=[hyque-rate/theory,rexp3b-rate]"]
    assert ledger.settle(findings[1], overrides) in ledger.to_markdown(findings, "x", overrides)
    assert experiments.experiment(alone).resolved["seeds"]["choose"] == 3


# --------------------------------------------------------------------------- what is gathered


def plan_of(**fields) -> dict:
    configuration = {
        "name": "small",
        "seeds": {"choose": 2, "estimate": 4, "most": 8, "error": 0.1},
    }
    about = {"config": configuration, "version": "0", "code": "f" * 64}
    empty = {"units": [], "asked": [], "studies": [], "calibrations": [], "points": [], "shown": []}
    return {
        "about": about,
        "overrides": "experiment=small",
        "experiment": "small",
        "toy": True,
        "choose": 2,
        **empty,
    } | fields


def record(name: str, cpu: float, wall: float, about: str = "", made: Sequence[str] = ()) -> None:
    costs.FOLDER.mkdir(parents=True, exist_ok=True)
    kept = dataclasses.asdict(costs.Record(cpu, wall, about, [*made]))
    (costs.FOLDER / f"{name}.json").write_text(json.dumps(kept))


def test_times_are_those_of_the_jobs_that_made_the_units(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    units = [f"cells/hyque/{name}.parquet" for name in "abcd"]
    record("1" * 16, 8.25, 10.5, "hyque: 2 units, T up to 1e+03", units[:2])
    record("2" * 16, 1000, 1000, "of another experiment", units[3:])
    record("small.slopes", 2.5, 3.0)
    record("small.block", 3.5, 4.0)
    record("small.pace", 3.5, 4.0)  # not shown
    (costs.FOLDER / f"{'4' * 16}.json").write_text("damaged")
    times = gathering.times(plan_of(units=units[:3]), ["block"])
    assert times.stages == [
        (LABELS["simulate"], 1, 8.25, 10.5),
        (LABELS["slopes"], 1, 2.5, 3.0),
        (LABELS["figure"], 1, 3.5, 4.0),
    ]
    assert times.slowest[0] == ("hyque: 2 units, T up to 1e+03", 8.25, 10.5)
    assert "2 of the 3 files" in times.note
    assert "unknown" in times.note
    nothing = gathering.times(plan_of(units=["cells/hyque/x.parquet"]), [])
    assert "0 of the 1 files" in nothing.note


def test_a_figures_caption_frames_and_command_reach_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reading = exhibit("horizon").reading
    folder = Path("results/small")
    (folder / "logs").mkdir(parents=True)
    made = Path("figures/small")
    made.mkdir(parents=True)
    (made / "horizon.svg").write_bytes(SVG)
    (made / "horizon.txt").write_text(f"HyQue's $R$ is 3 times the rate. {reading}\n")
    (made / "table1.csv").write_text('Paper,"Rate, in $B$"\n"two\nlines",x\n')
    (made / "table1.txt").write_text("Read so.\n")
    (folder / "claims.json").write_text(ledger.to_json(example().findings[:2]))
    (folder / "config.yaml").write_text("name: small\n")
    pd.DataFrame({"label": ["hyque"], "T": [10]}).to_csv(folder / "worst.csv", index=False)
    pd.DataFrame({"label": ["hyque"]}).to_csv(folder / "slopes.csv", index=False)
    monkeypatch.setattr(results, "runs", lambda plan: pd.DataFrame({"seed": [0, 1, 2, 5]}))
    caught = {}
    monkeypatch.setattr(
        "confee.rendering.report.render",
        lambda report: caught.setdefault("it", report) and "a page",
    )
    (file,) = gathering.write(plan_of(), ["horizon", "table1"])
    assert file.read_text() == "a page"
    said = caught["it"]
    figure, table = said.shown
    assert figure.finding == "HyQue's $R$ is 3 times the rate."
    assert figure.reading == reading
    assert figure.svg == SVG
    assert figure.frames == [f"{name}.csv" for name in exhibit("horizon").needs]
    assert understood(figure.command) == ["experiment=small"]
    assert "figures/small/horizon.pdf" in figure.command
    assert table.rows == [["Paper", "Rate, in $B$"], ["two\nlines", "x"]]
    frames = {frame.name: frame for frame in said.frames}
    assert frames.keys() == {"claims.json", "worst.csv", "points.csv", "slopes.csv"}
    assert frames["worst.csv"].content == (folder / "worst.csv").read_bytes()
    assert said.seeds["Estimating"].startswith("2 to 5")
    assert said.seeds["Runs"].startswith("4 ")
    assert said.versions.keys() >= {"confee", "Python", "numpy", "numba", "pandas", "snakemake"}


def test_every_stage_and_every_picture_has_a_name_of_its_own():
    keys = Workflow({"overrides": "experiment=tiny"}).keys
    stages = {"regret", "slopes", "claims", "album", "report"}
    assert set(keys) == {*stages, *FIGURES, *TABLES}
    assert len(keys) == len(stages) + len(FIGURES) + len(TABLES)
    assert len(set(keys.values())) == len(keys)


def test_the_page_does_not_show_its_scoreboard_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert set(TABLES) >= gathering.REPEATED
    caught = []
    monkeypatch.setattr(gathering, "_frames", lambda plan, names: caught.extend(names) or {})
    monkeypatch.setattr(gathering, "_shown", lambda plan, name, frames: name)
    monkeypatch.setattr(gathering, "_text", lambda file: "")
    monkeypatch.setattr(gathering, "_seeds", lambda plan: {})
    monkeypatch.setattr(results, "claims_file", lambda name: ([], {"claims": []}))
    gathered = []
    monkeypatch.setattr("confee.rendering.report.render", lambda it: gathered.append(it) or "")
    gathering.write(plan_of(), ["block", "ledger"])
    assert gathered[0].shown == ["block"]
    assert caught == ["block"]


# --------------------------------------------------------------------------- in a browser


NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
)
SMOKE = Path(__file__).parents[1] / "results/smoke/report.html"
USUAL = {"width": 1280, "height": 900}
PATIENCE = 120_000
"""Milliseconds that a busy machine is waited for."""


def lacking(what: str) -> None:
    """Skips a test, but fails it where all is to be checked."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(what)


@pytest.fixture(scope="module")
def browser():
    place = next(filter(None, map(shutil.which, NAMES)), None)
    if place is None:
        lacking(f"no browser to look with: none of {', '.join(NAMES)} is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=place, args=FLAGS, timeout=PATIENCE)
        yield chromium
        chromium.close()


class Visit:
    """A page as a browser shows it, and what it said and asked for meanwhile."""

    def __init__(self, page, file: Path) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        self.heard = {
            "console": lambda message: self.said.append(message.text),
            "pageerror": lambda error: self.said.append(str(error)),
            "request": lambda request: self.asked.append(request.url),
        }
        for event, listener in self.heard.items():
            page.on(event, listener)
        self.address = file.as_uri()
        page.goto(self.address)

    def leave(self) -> None:
        for event, listener in self.heard.items():
            self.page.remove_listener(event, listener)
        self.page.emulate_media(media="null", color_scheme="null")
        self.page.set_viewport_size(USUAL)
        self.page.set_default_timeout(PATIENCE)

    def open_all(self) -> None:
        """All evidence."""
        self.page.evaluate("for (const one of document.querySelectorAll('.more')) one.open = true")

    def claims(self) -> list[str]:
        """Ids of the claims shown, in order."""
        return self.page.eval_on_selector_all(
            "#scoreboard > tbody", "all => all.filter(b => !b.hidden).map(b => b.id.slice(6))"
        )


@pytest.fixture(scope="module")
def page(browser):
    """One for all: a new one costs a browser more than all that a test does in it."""
    with browser.new_context(viewport=USUAL) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


@pytest.fixture
def visit(page, made, tmp_path):
    """Opens the page made by hand, or another in its place."""
    opened = []

    def start(shown: str | Path = made) -> Visit:
        file = shown if isinstance(shown, Path) else tmp_path / f"{len(opened)}.html"
        if isinstance(shown, str):
            file.write_text(shown)
        opened.append(Visit(page, file))
        return opened[-1]

    yield start
    for one in opened:
        one.leave()


# Checks. Each is also shown a page on which it must fail, below.


def is_quiet_and_alone(seen: Visit) -> None:
    seen.open_all()
    seen.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert seen.said == []
    assert {url for url in seen.asked if not url.startswith("data:")} == {seen.address}


def shows_every_image(seen: Visit) -> None:
    seen.open_all()
    seen.page.wait_for_function("[...document.images].every(one => one.complete)")
    widths = seen.page.eval_on_selector_all("img", "all => all.map(one => one.naturalWidth)")
    assert widths
    assert all(widths)


def resolves_every_anchor(seen: Visit) -> None:
    seen.open_all()
    lost = seen.page.eval_on_selector_all(
        'a[href^="#"]',
        "all => all.map(a => decodeURIComponent(a.hash.slice(1)))"
        ".filter(id => !document.getElementById(id))",
    )
    assert lost == []


def fits_every_width(seen: Visit) -> None:
    seen.open_all()
    for width in (360, 768, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, f"{over} pixels too wide at {width}"


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const color = rgba(getComputedStyle(one).backgroundColor);
      if (color[3] === 255) return color;
    }
    throw "no ground";
  };
  const found = [];
  for (const one of document.querySelectorAll("body *")) {
    const text = [...one.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join("").trim();
    if (!text || !one.checkVisibility() || one.matches("script, style")) continue;
    const [a, b] = [light(rgba(getComputedStyle(one).color)), light(ground(one))];
    found.push([(Math.max(a, b) + .05) / (Math.min(a, b) + .05), one.className, text.slice(0, 30)]);
  }
  return found;
}"""


def can_be_read(seen: Visit) -> None:
    seen.open_all()
    grounds = set()
    for scheme in ("light", "dark"):
        seen.page.emulate_media(color_scheme=scheme)
        grounds.add(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        found = seen.page.evaluate(CONTRASTS)
        assert sum("badge" in str(kind) for _, kind, _ in found) >= 5
        faint = [one for one in found if one[0] < 4.5]
        assert faint == [], scheme
    assert len(grounds) == 2


BOARD = """at => {
  const claims = [...document.querySelectorAll("#scoreboard > tbody")];
  const heads = [...document.querySelectorAll("#scoreboard > thead th")];
  return [heads.map(head => head.getAttribute("aria-sort")),
          claims.map(claim => claim.rows[0].cells[at].dataset.key), claims.map(claim => claim.id)];
}"""


def sorts(seen: Visit, act=lambda button: button.click()) -> None:
    buttons = seen.page.locator("#scoreboard > thead button")
    before = seen.page.evaluate(BOARD, 0)[2]
    for at in (1, 2, 3, 4, 5, 0):
        for way in ("ascending", "descending"):
            act(buttons.nth(at))
            states, keys, claims = seen.page.evaluate(BOARD, at)
            assert states == [way if i == at else None for i in range(6)]
            known = [key if at == 5 else float(key) for key in keys if key != ""]
            assert known == sorted(known, reverse=way == "descending"), (at, way)
            assert len(set(known)) > 1
            assert all(key == "" for key in keys[len(known) :]), "what has no number comes last"
            assert sorted(claims) == sorted(before)
    act(buttons.nth(0))
    assert seen.page.evaluate(BOARD, 0)[2] == before


def filters(seen: Visit, act=lambda button: button.click()) -> None:
    all_of_them = seen.claims()
    page = seen.page
    holds, fails = (page.locator(f'.only [data-outcome="{name}"]') for name in ("holds", "fails"))
    gap = page.locator('.only [data-severity="gap"]')

    def found() -> str:
        return page.locator("#found").inner_text()

    act(holds)
    assert holds.get_attribute("aria-pressed") == "true"
    assert seen.claims() == ["hyque-rate/theory"]
    assert found() == "1 of 6 claims"
    act(fails)
    assert seen.claims() == ["hyque-rate/theory", "hyque-floor", "query-runs"]
    act(gap)
    assert seen.claims() == ["query-runs"]
    act(gap)
    page.locator("#find").fill("FLOOR")
    assert seen.claims() == ["hyque-floor"]
    page.locator("#find").fill("no such words")
    assert seen.claims() == []
    assert page.locator(".nothing").is_visible()
    page.locator("#find").fill("-0.379 theory")
    assert seen.claims() == ["hyque-rate/theory"]
    page.locator("#find").fill("")
    act(holds)
    act(fails)
    assert seen.claims() == all_of_them
    assert found() == "6 of 6 claims"


def unfolds(seen: Visit, act=lambda button: button.click()) -> None:
    button = seen.page.locator('[id="claim-hyque-floor"] summary')
    evidence = seen.page.locator('[id="evidence-hyque-floor"]')
    for opened in (False, True, False):
        assert evidence.is_visible() == opened
        act(button)
    evidence.locator(".see img").first.wait_for()
    assert evidence.locator(".see img").count() == 1


CHECKS = (
    is_quiet_and_alone,
    shows_every_image,
    resolves_every_anchor,
    fits_every_width,
    can_be_read,
    sorts,
    filters,
    unfolds,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_browser_shows_that_the_page(visit, check):
    check(visit())


POLICY = r'<meta http-equiv="Content-Security-Policy"[^>]*>'

BROKEN = [
    (is_quiet_and_alone, "<main>", '<main><img src="http://127.0.0.1:9/x.png">'),
    (is_quiet_and_alone, '"use strict";', '"use strict"; missing();'),
    (is_quiet_and_alone, "</body>", "<script>console.warn('odd')</script></body>"),
    (shows_every_image, "data:image/svg+xml,", "data:image/svg+xml,AAAA"),
    (resolves_every_anchor, 'id="figure-regret-T"', 'id="figure-regret"'),
    (fits_every_width, "<main>", '<main><hr width="370">'),
    (can_be_read, "--soft: #5a5852", "--soft: #949494"),
    (can_be_read, "--note: #3a3218", "--note: #fff4d6"),
    (can_be_read, ".holds { --fill: ", ".holds { --fill: #90c090; --old: "),
    (sorts, "board.append", "board.contains"),
    (sorts, '"ascending"><button type="button">', '"ascending"><button disabled>'),
    (filters, "claim.dataset[kind]", "true"),
    (filters, '" data-severity="gap"', '" data-severity="none"'),
    (
        filters,
        'id="claim-hyque-rate/theory" data-outcome="holds"',
        'id="claim-hyque-rate/theory" data-outcome="fails"',
    ),
    (filters, 'replaceAll("\\u2212", "-")', "trim()"),
    (unfolds, "> .evidence { display: none; }", "> .evidence { opacity: 1; }"),
    (unfolds, "link.prepend(small)", "small.remove()"),
]


@pytest.mark.parametrize(("check", "old", "new"), BROKEN)
def test_a_check_fails_on_a_broken_page(visit, made, check, old, new):
    assert old in made
    # A page's policy would stop what was changed of it.
    seen = visit(re.sub(POLICY, "", made).replace(old, new))
    seen.page.set_default_timeout(500)
    from playwright.sync_api import TimeoutError

    with pytest.raises((AssertionError, TimeoutError)):
        check(seen)


def test_the_pages_own_policy_lets_nothing_out(visit, made):
    hits = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        picture = f'<img src="http://127.0.0.1:{server.server_port}/x.png">'
        script = "<script>document.title = 'broken in'</script>"
        foul = made.replace("<main>", f"<main>{picture}{script}")
        without = re.sub(POLICY, "", foul)
        for page, title, asked in (
            (foul, "made-up · confee", []),
            (without, "broken in", ["/x.png"]),
        ):
            seen = visit(page)
            seen.page.wait_for_function("[...document.images].every(one => one.complete)")
            assert (seen.page.title(), hits) == (title, asked)
        server.shutdown()


def press(key: str):
    """Acts on a button as a keyboard does."""

    def act(button) -> None:
        button.focus()
        button.press(key)

    return act


@pytest.mark.parametrize(
    ("check", "key"), [(sorts, "Enter"), (filters, "Space"), (unfolds, "Enter")]
)
def test_keys_do_what_clicks_do(visit, check, key):
    check(visit(), press(key))


def test_keys_reach_everything_in_the_order_of_the_page(visit):
    page = visit().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "claims"
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges()")
    reached = []
    wanted = page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]')]"
        ".filter(one => one.checkVisibility()).length"
    )
    page.locator(".skip").focus()
    for _ in range(wanted):
        seen = page.evaluate("""() => {
          const one = document.activeElement;
          const all = [...document.querySelectorAll("*")];
          return [all.indexOf(one), getComputedStyle(one).outlineStyle, one.outerHTML.slice(0, 80)];
        }""")
        reached.append(seen)
        page.keyboard.press("Tab")
    assert [at for at, _, _ in reached] == sorted({at for at, _, _ in reached})
    assert [html for _, outline, html in reached if outline == "none"] == []


def test_a_link_to_a_claim_shows_it_though_it_was_filtered_out(visit):
    seen = visit()
    seen.page.locator('.only [data-outcome="holds"]').click()
    seen.page.locator('#figure-regret-T a[href="#claim-hyque-floor"]').click()
    seen.page.wait_for_function("document.getElementById('evidence-hyque-floor').checkVisibility()")
    assert len(seen.claims()) == 6


def test_data_can_be_saved(visit):
    page = visit().page
    for selector, content in (
        ('a[download="worst.csv"]', WORST.encode()),
        ('#figure-regret-T a[download="regret-T.svg"]', b" ".join(SVG.splitlines())),
    ):
        with page.expect_download() as saved:
            page.locator(selector).click()
        assert Path(saved.value.path()).read_bytes() == content


def test_paper_has_no_controls(visit):
    page = visit().page
    page.emulate_media(media="print")
    for selector in (".filter", "nav", ".skip", ".enlarge"):
        assert not page.locator(selector).first.is_visible(), selector
    assert page.locator("#scoreboard .badge").first.is_visible()
    assert page.locator("#figure-regret-T img").is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 29, 27)"


def test_a_phone_enlarges_a_figure_in_its_box(visit):
    page = visit().page
    page.set_viewport_size({"width": 360, "height": 700})
    box, button = page.locator(".picture").first, page.locator(".enlarge").first
    width = "one => one.scrollWidth - one.clientWidth"
    assert box.evaluate(width) == 0
    button.click()
    assert box.evaluate(width) > 100
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_without_the_script_all_can_be_read(browser, made, tmp_path):
    (tmp_path / "page.html").write_text(made)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri(), timeout=PATIENCE)
        evidence = page.locator("#scoreboard .evidence").all()
        assert len(evidence) == 6
        assert not any(one.is_visible() for one in evidence)
        for summary in page.locator("#scoreboard summary").all():
            summary.click()
        assert all(one.is_visible() for one in evidence)
        assert not page.locator(".filter").is_visible()


def test_every_claim_has_its_badges(visit):
    page = visit().page
    said = page.locator("#scoreboard td.printed .badge").all_inner_texts()
    words = {v.id: v.as_printed for v in example().findings}
    glyphs = {v.id: MARKS[v.as_printed].glyph for v in example().findings}
    assert said == [f"{glyphs[id]} {words[id]}" for id in words]
    assert {v.as_printed for v in example().findings} == set(OUTCOMES)
    said = page.locator("#scoreboard td.severity .badge").all_inner_texts()
    marks = [ALL[weight(v)] for v in example().findings]
    assert said == [f"{mark.glyph} {mark.word}" for mark in marks]


def test_a_browser_shows_that_a_real_page_passes(visit):
    if not SMOKE.is_file():
        lacking('no page of a run: make figures OVERRIDES="experiment=smoke" makes one')
    assert SMOKE.stat().st_size < 3e6
    seen = visit(SMOKE)
    for check in CHECKS[:5]:
        check(seen)
