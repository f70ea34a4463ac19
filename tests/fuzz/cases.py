"""Cases of bad input: valid ones, mutated. A case is its kind and its parts; `random.Random` draws.

`touched` are the words of a mutation (keys, values), of which a refusal has to name one.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import random
import re
import string
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from confee.claims import CLAIMS
from confee.config import experiments
from confee.policies import POLICIES
from confee.rendering import FIGURES
from confee.simulation.cells import SizeRanges
from confee.simulation.play import Accounting
from confee.world.adversaries import ADVERSARIES

CANARY = "canary"
"""A file that whatever evaluates a case would make, in the folder of the case."""


class Case(NamedTuple):
    """`parts`: what can be left out one by one, to find the smallest case that still fails."""

    kind: str
    mutation: str
    parts: tuple[Any, ...]
    touched: tuple[str, ...]


# --------------------------------------------------------------------------- what is odd

NUMBERS = (
    "nan",
    "-nan",
    "inf",
    "-inf",
    ".nan",
    ".inf",
    "-.inf",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "1e308",
    "-0.0",
    "0",
    "-1",
    "1",
    "0.5",
    "1e15",
    "1000000000000001e3",
    "9" * 400,
    "-" + "9" * 400,
    str(2**63),
    str(-(2**63) - 1),
    "0x10",
    "1_000",
    "1e4.5",
    "1e",
    "e5",
    "1.2.3",
    "00012",
    "+3",
    "1e9",
    "1e12",
    "1.0000000000000002",
)
WORDS = (
    "true",
    "false",
    "null",
    "",
    "''",
    '""',
    "abc",
    "ABC",
    "none",
    "None",
    "???",
    "%s",
    "{}",
    "[]",
    "ÄÖ",
    "数据",
    "\U0001f3b2",
    "\x00",
    "\x1b[31m",
    "\x07",
    "\u202e",
    "\ufeff",
    "a\nb",
    "a\tb",
    "\r",
    "\u2028",
    "\udcff",
    "x" * 5000,
    "-",
    "--",
    "~",
    "@",
    "#",
    "%",
    "\\",
    "\\n",
    ".",
    "..",
    "../up",
    "/etc/passwd",
    "a b",
    "a=b",
    "a:b",
    "a@b",
    "ceiling",
    "largest",
    "1 2",
    "T",
    "*",
)
NESTED = (
    "[1]",
    "[null]",
    "[[1]]",
    "[1,[2]]",
    "[[[[[[]]]]]]",
    "{a:1}",
    "{a:{b:[1]}}",
    "{1:2}",
    "[nan]",
    "[1e400]",
    "{null:1}",
    "{true:1}",
    "{T:[1e3]}",
    "[" * 60 + "]" * 60,
    "[" * 2000 + "]" * 2000,
    "{a:" * 300 + "1" + "}" * 300,
    "[" + ",".join(["1"] * 400) + "]",
    "[T,T]",
    "[a,a]",
    "['']",
    "[1,2,3,{a:[b]}]",
)
TORN = (
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "[1,2",
    "1,2]",
    "{a:1",
    "a}",
    "'",
    '"',
    "'a",
    'a"',
    "a'b",
    "[}",
)
HYDRA = (
    "1,2",
    "a,b",
    "choice(1,2)",
    "choice()",
    "range(1,3)",
    "interval(0,1)",
    "glob(*)",
    "glob([a])",
    "sort(3,2)",
    "shuffle(1,2)",
    "tag(a,1)",
    "int(3.5)",
    "int(x)",
    "float(3)",
    "str(3)",
    "bool(x)",
    "json_str({})",
    "extend_list(1)",
    "nope(1)",
    "cast(",
    "${T}",
    "${K}",
    "${centre.T}",
    "${seeds}",
    "${.}",
    "${..}",
    "${}",
    "${",
    "$",
    "$$",
    "\\${T}",
    "${nope}",
    "${nope:1}",
    "${a.b.c}",
    "${oc.env:HOME}",
    "${oc.env:NOPE}",
    "${oc.env:NOPE,3}",
    "${oc.decode:'[1]'}",
    "${oc.create:{}}",
    "${oc.select:seeds}",
    "${oc.select:nope,3}",
    "${oc.dict.keys:seeds}",
    "${oc.deprecated:K}",
    "${hydra:runtime.cwd}",
    "${now:%Y}",
    "${python_version:}",
    "${${T}}",
    "x${T}y",
    "${self}",
)
HOSTILE = (
    f"!!python/object/apply:os.system ['touch {CANARY}']",
    f"$(touch {CANARY})",
    f"`touch {CANARY}`",
    f"; touch {CANARY};",
    f"' ; touch {CANARY} ; '",
    f"__import__('os').system('touch {CANARY}')",
    "{_target_:os.system}",
    f"{{_target_:os.system,command:'touch {CANARY}'}}",
    "<script>",
)
ODD = NUMBERS + WORDS + NESTED + TORN + HYDRA + HOSTILE

PLAIN = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    7,
    0.5,
    1.5,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    5e-324,
    -0.0,
    10**400,
    -(10**400),
    2**63,
    10**15,
    10**15 + 1,
    1e15,
    "",
    "x",
    "a\nb",
    "x" * 5000,
    "\x1b[31m\x00",
    "数据",
    "\udcff",
    [],
    [[]],
    [1, [2]],
    [None],
    [True],
    {},
    {"a": 1},
    {1: 2},
    {"a": {"b": [1]}},
    {None: 1},
    "ceiling",
    "largest",
    ["ceiling"],
    "${x}",
    "../up",
    "cells",
    ["T", "T"],
    [1, 1, 1],
    [2, 2.0],
    ["x", 1],
    [math.nan],
    [10**400],
    list(range(2, 3000)),
    "1e3",
    {"name": "uniform"},
    {"name": "switching"},
    {"_target_": "os.system"},
    b"bytes",
    (1, 2),
    {1, 2},
)
"""Values of Python's own: what YAML or a caller may hand over."""

KEYS = (
    "",
    " ",
    ".",
    "..",
    "a",
    "K",
    "k",
    "t",
    "T ",
    "seed",
    "Seeds",
    "seeds.",
    ".seeds",
    "seeds..choose",
    "_self_",
    "defaults",
    "_target_",
    "_convert_",
    "_recursive_",
    "policies.hyque._target_",
    "0",
    "grid.T[0]",
    "grid.T.0",
    "grid.0",
    "hydra",
    "hydra.run.dir",
    "hydra/job_logging",
    "hydra.job.chdir",
    "hydra.searchpath",
    "hydra.verbose",
    "policy@",
    "@policies.x",
    "policy@policies",
    "policy@policies.",
    "policy@policies.x@y",
    "policy@_global_",
    "adversary@family.hyque",
    "experiment@x",
    "/policy",
    "a/b",
    "a:b",
    "a-b",
    "a b",
    "é",
    "数",
    "x" * 3000,
    "a.b.c.d.e.f",
    "${T}",
    "policies.${x}",
    "*",
    "seeds[choose]",
    "seeds.'choose'",
    '"seeds"',
    "\x00",
    "\x1b[1m",
    "\u202e",
    "__class__",
    "keys",
    "items",
    "get",
    "policies.keys",
    "$(touch canary)",
    "-",
    "--config",
    "policies.hyque.name",
)


def textual(value: Any) -> str:
    """A value in Hydra's syntax."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(textual, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{textual(v)}" for k, v in value.items()) + "}"
    return str(value)


# --------------------------------------------------------------------------- what is known


def edges(allowed: str) -> list[Any]:
    """Values at and just past a range, as an error line tells it."""
    if allowed == "true or false":
        return [True, False, 1, "yes", "True", None]
    found = re.search(r"in ([\[(])(\S+), ([^\])]+)([\])])", allowed)
    if not found:
        words = allowed.removeprefix("one of ").split(", ")
        return [*words, words[0].upper(), words[0] + " ", words[:1]]
    low, high = float(found[2]), float(found[3])
    made: list[Any] = []
    for end, way in ((low, -1), (high, 1)):
        if math.isfinite(end):
            past = math.nextafter(end, way * math.inf)
            made += [end, past, end + way, end - way, end + way * 1e-9, int(end), int(end) + way]
    return made


def ranged(cls: type, prefix: str) -> Iterator[tuple[str, list[Any]]]:
    """(key, odd values of its own) of each field of a class of options."""
    for field in dataclasses.fields(cls):
        yield prefix + field.name, edges(field.metadata["kind"].allowed)


@functools.cache
def keys_of_experiments() -> dict[str, list[Any]]:
    """Every key that overrides of `tiny` may set, and values that are valid or nearly so."""
    sizes = dict(ranged(SizeRanges, ""))
    made = dict(ranged(experiments._Seeds, "seeds.")) | dict(ranged(experiments.Jobs, "jobs."))
    made |= {f"centre.{axis}": values for axis, values in sizes.items()}
    made |= {f"+at.{a}.{b}": values for a in ("T", "V", "Q") for b, values in sizes.items()}
    for axis, values in sizes.items():
        lists = [[v] for v in values] + [values[:2], [1e3, 1e3], [2e3, 1e3]]
        made["grid.T" if axis == "T" else f"+grid.{axis}"] = lists
    made |= dict(ranged(experiments._Map, "+maps.m."))
    made |= {
        "+maps.m": [
            {"K": [2], "T": [1e3], "beta": [0.8], "V": [2]},
            {"K": [2], "T": [1e3], "beta": [1e-9], "V": [2]},
            {"K": [2], "T": [1e15], "beta": [1e-300], "V": ["largest"]},
            {"K": [2, 3], "T": [1e3, 2e3], "beta": [1], "nu": [0.5]},
            {"K": [1e5], "T": [1e3], "beta": [0.5], "V": [0]},
            {"K": [2], "T": [1e3], "beta": [], "V": [1]},
            {"K": [2], "T": [1e3], "beta": [0.8]},
            {
                "K": [2],
                "T": [1e3],
                "beta": [0.8],
                "V": [1],
                "policies": ["hyque"],
                "without": ["hard"],
            },
            {"K": [2], "T": [1e3], "beta": [0.8], "V": [1], "family": [], "policies": []},
            {"K": [2] * 40, "T": [1e3] * 40, "beta": [0.8] * 40, "V": [1] * 40, "phases": 64},
            {"K": list(range(2, 400)), "T": list(range(1000, 1400)), "beta": [0.8, 1], "V": [1, 2]},
        ]
    }
    for label in ("hyque", "rexp3b", "uniform", "nobody"):
        made |= dict(ranged(experiments._Play, f"+plays.{label}."))
        made[f"+plays.{label}.axes"] = [["T"], ["Q"], [], "T", ["T", "T"], None]
    for label in ("hyque", "hyque_calibrated", "rexp3b"):
        made |= dict(ranged(POLICIES[label].options, f"policies.{label}."))
    for label in ("switching", "hard"):
        made |= dict(ranged(ADVERSARIES[label].options, f"family.{label}."))
    made["family.switching.strength"] = [
        [1, 4],
        ["ceiling"],
        "ceiling",
        [0],
        [1e-300],
        [1e300],
        [1e9],
        [],
        ["floor"],
        [True],
        list(range(1, 2000)),
        1,
    ]
    made |= {
        f"+policy@policies.{label}": [*POLICIES, "hyqe", "HYQUE", "../hyque", "hyque.yaml"]
        for label in ("x", "hyque")
    }
    made |= {
        f"+adversary@family.{label}": [*ADVERSARIES, "swiching", "", "a/b"]
        for label in ("x", "hard")
    }
    made |= dict(ranged(experiments._Top, "")) | dict(ranged(Accounting, ""))
    made["name"] = [
        "a",
        "a" * 300,
        "cells",
        "a/b",
        "..",
        "a.claims",
        "-a",
        "é",
        "a b",
        "A",
        "con\n",
    ]
    made["claims"] = [[id] for id in CLAIMS] + [[], ["hyque-rate"], list(CLAIMS)[:3], None]
    made["figures"] = [[id] for id in FIGURES] + [[], ["pie"], "block", None]
    made["experiment"] = ["smoke", "tiny", "bar", "", "Tiny", "../tiny", "tiny.yaml", "floor"]
    gone = (
        "seeds",
        "centre",
        "grid",
        "grid.T",
        "policies",
        "family",
        "policies.hyque",
        "name",
        "jobs",
        "family.hard",
        "centre.K",
        "claims",
        "toy",
        "policies.hyque.name",
        "nope",
        "maps",
    )
    return made | {f"~{key}": [None] for key in gone}


@functools.cache
def keys_of_cells() -> dict[str, list[Any]]:
    """The same of `confee simulate`."""
    made = (
        dict(ranged(SizeRanges, ""))
        | dict(ranged(experiments.Runs, ""))
        | dict(ranged(Accounting, ""))
    )
    made["policy"] = [*POLICIES, "hyqe", "Hyque", "../hyque", "hyque.yaml", ""]
    made["adversary"] = [*ADVERSARIES, "swiching", "Switching", ""]
    made["output"] = [
        "a.parquet",
        "nowhere/a.parquet",
        "a.csv",
        ".parquet",
        "results",
        "",
        "x" * 300 + ".parquet",
        "a\x00.parquet",
        "é.parquet",
        3,
        True,
        ["a.parquet"],
    ]
    for name in ("hyque", "rexp3b", "ucb1", "glr_ucb", "sw_ucb"):
        made |= dict(ranged(POLICIES[name].options, "policy."))
    for name in ("switching", "random_walk", "sinusoid", "trace", "hard", "linear_switching"):
        made |= dict(ranged(ADVERSARIES[name].options, "adversary."))
    gone = ("K", "policy", "adversary", "seeds", "policy.name", "adversary.gap", "output", "nope")
    return made | {f"~{key}": [None] for key in gone}


EXPERIMENT = ("experiment=tiny",)
CELL = ("policy=uniform", "adversary=switching", "K=2", "T=2000", "B=400", "V=2", "seeds=2")


# --------------------------------------------------------------------------- overrides


def of(key: str, text: str) -> str:
    return key if key.startswith("~") else f"{key}={text}"


def words_of(key: str, text: str) -> tuple[str, ...]:
    bare = key.lstrip("+~")
    return bare, *bare.split("."), text, *text.split()


def override(rng: random.Random, known: Mapping[str, list[Any]]) -> tuple[str, str, tuple]:
    """(mutation, override, touched)."""
    key = rng.choice(list(known))
    own = textual(rng.choice(known[key]))
    match rng.choice(("edge", "edge", "odd", "odd", "key", "sign", "text", "twice")):
        case "edge":
            return "edge", of(key, own), words_of(key, own)
        case "odd":
            odd = rng.choice(ODD)
            return "odd value", of(key, odd), words_of(key, odd)
        case "key":
            new = rng.choice(KEYS) if rng.random() < 0.7 else scrambled(rng, key)
            return "odd key", of(new, own), (*words_of(new, own), of(new, own))
        case "sign":
            bare = key.lstrip("+~")
            new = rng.choice(("", "+", "++", "+++", "~", "~~", "-", "@", "++~")) + bare
            return "sign", of(new, own), words_of(new, own)
        case "twice":
            return "twice", f"{of(key, own)} {of(key, own)}", words_of(key, own)
        case _:
            new = scrambled(rng, of(key, own))
            return "scrambled", new, (new, *re.split(r"[=.@+~\s]", new), *words_of(key, own))


def scrambled(rng: random.Random, text: str) -> str:
    """A few characters of it dropped, doubled, swapped, put in or turned to the other case."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        new = rng.choice(string.punctuation + " \t\n\x00éT0")
        text = rng.choice(
            (
                text[:at] + text[at + 1 :],
                text[:at] + new + text[at:],
                text[:at] + text[at:].swapcase(),
                text[:at] + text[at - 1 :],
                text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
            )
        )
    return text


def overrides(kind: str, base: tuple[str, ...], known: Callable) -> Callable[[random.Random], Case]:
    def draw(rng: random.Random) -> Case:
        parts, touched, names = list(base), [], []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            name, text, words = override(rng, known())
            names.append(name)
            touched += words
            same = [i for i, p in enumerate(parts) if p.partition("=")[0] == text.partition("=")[0]]
            if same and rng.random() < 0.9:
                parts[same[0]] = text
            else:
                parts.append(text)
        if rng.random() < 0.03:
            touched.append(parts.pop(0).partition("=")[0])
        return Case(kind, "+".join(sorted(set(names))), tuple(parts), tuple(touched))

    return draw


# --------------------------------------------------------------------------- what YAML may say


class Change(NamedTuple):
    """At `path` of plain values: `how` is set, drop or rename; `value` the new value or name."""

    path: tuple[Any, ...]
    how: str
    value: Any


def changed(values: Any, changes: tuple[Change, ...]) -> Any:
    """A copy of `values` with those changes that still find their place."""
    values = copy.deepcopy(values)
    for path, how, value in changes:
        at = values
        try:
            for key in path[:-1]:
                at = at[key]
            if how == "set":
                if isinstance(at, Mapping) or path[-1] in range(len(at)):
                    at[path[-1]] = copy.deepcopy(value)
            else:
                old = at.pop(path[-1])
                if how == "rename":
                    at[value] = old
        except (KeyError, IndexError, TypeError, AttributeError):
            continue
    return values


def places(values: Any, at: tuple = ()) -> Iterator[tuple[Any, ...]]:
    items = values.items() if isinstance(values, Mapping) else enumerate(values)
    for key, value in items:
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))


def change(rng: random.Random, values: Any, own: Mapping[str, list[Any]] | None = None) -> Change:
    path = rng.choice(list(places(values)))
    how = rng.choice(("set", "set", "set", "set", "drop", "rename", "add"))
    if how == "rename":
        return Change(
            path, how, rng.choice((1, None, True, 0.5, "x", "", "Name", "数", "a.b", "T"))
        )
    if how == "drop":
        return Change(path, how, None)
    value = rng.choice(PLAIN)
    known = (own or {}).get(".".join(map(str, path)))
    if known and rng.random() < 0.4:
        value = rng.choice(known)
    if how == "add":
        new = rng.choice(("x", 1, None, True, "", "数", "name", "T", "gap", "_target_", "strength"))
        return Change((*path[:-1], new), "set", value)
    return Change(path, "set", value)


def words(changes: tuple[Change, ...]) -> tuple[str, ...]:
    """Keys on the way to a change, and its value: an error may be about any of them."""
    made = []
    for path, _, value in changes:
        made += [str(key) for key in path if not isinstance(key, int)] + [str(path[-1])]
        made.append(str(value))
    return tuple(made)


def values(kind: str, base: Callable[[], Any], own: Callable = dict) -> Callable:
    def draw(rng: random.Random) -> Case:
        changes: tuple[Change, ...] = ()
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            changes += (change(rng, changed(base(), changes), own()),)
        name = "+".join(sorted({one.how for one in changes}))
        return Case(kind, name, changes, words(changes))

    return draw


# --------------------------------------------------------------------------- files


class Edit(NamedTuple):
    """Of bytes: at a share `at` of the file, `how`; `content` is put there."""

    at: float
    how: str
    content: bytes


def edited(data: bytes, edits: tuple[Edit, ...]) -> bytes:
    for at, how, content in edits:
        i = int(at * len(data))
        match how:
            case "cut":
                data = data[:i]
            case "flip":
                data = (
                    data[:i] + bytes([data[i] ^ content[0]]) + data[i + 1 :] if data[i:] else data
                )
            case "put":
                data = data[:i] + content + data[i:]
            case "lose":
                data = data[:i] + data[i + len(content) :]
            case "whole":
                data = content
    return data


WHOLE = (
    b"",
    b"\n",
    b"null",
    b"[]",
    b"{}",
    b"3",
    b'"x"',
    b"\x00" * 100,
    b"PAR1",
    b"PAR1" * 5,
    b"\xff\xfe",
    b"[" * 100_000,
    b"{" * 5000,
    b'{"a":' * 50_000,
    b"9" * 5000,
    b"NaN",
    b"- !!python/name:os.system",
    b"a: &a [*a]",
    b"a: &x [1,1]\nb: &y [*x,*x]\nc: [*y,*y]",
    b"%YAML 9.9\n---\n",
    b"a: b: c",
    b"\t- a",
    b"name: x\nname: y",
    b"? [a]\n: b",
    b"2020-01-01: 2020-01-01",
    b"name: !!binary aGk=",
)
CONTENTS = (
    b"\x00",
    b"\n",
    b"'",
    b'"',
    b"{",
    b"]",
    b"\xff",
    b"nan",
    b"inf",
    b",",
    b";",
    b"1e999",
    b": ",
    b"- ",
    b"\t",
    b"&a *a",
    b"!!python/name:os.system ",
    b"${oc.env:HOME}",
    b"9" * 500,
)


def edit(rng: random.Random) -> Edit:
    how = rng.choice(("cut", "flip", "flip", "put", "put", "lose", "whole"))
    content = {
        "whole": rng.choice(WHOLE),
        "put": rng.choice(CONTENTS),
        "flip": bytes([1 << rng.randrange(8)]),
        "lose": b"x" * rng.randint(1, 40),
        "cut": b"",
    }[how]
    return Edit(rng.random(), how, content)


def file(kind: str, names: tuple[str, ...]) -> Callable[[random.Random], Case]:
    """A file of `names`, its bytes edited; the words that a refusal may name are in its path."""

    def draw(rng: random.Random) -> Case:
        name = rng.choice(names)
        edits = tuple(edit(rng) for _ in range(rng.choice((1, 1, 2, 4))))
        how = "+".join(sorted({one.how for one in edits}))
        within = re.findall(r"\w+", Path(name).read_text()) if name.endswith(".yaml") else []
        touched = (name, *Path(name).parts, Path(name).stem, *within)
        return Case(kind, how, (name, *edits), touched)

    return draw


# --------------------------------------------------------------------------- command lines

COMMANDS = (
    "simulate",
    "list",
    "config",
    "claims",
    "clean",
    "do",
    "compile",
    "make-regret",
    "make-slopes",
    "make-claims",
    "make-picture",
    "make-album",
    "make-report",
)
OPTIONS = (
    "--help",
    "-h",
    "--version",
    "--experiment",
    "--experiment=",
    "--experiment=nope",
    "--fail-on",
    "--fail-on=fails",
    "--fail-on=x",
    "--run-of",
    "--run-of=x",
    "--run-of=-1",
    "--",
    "-",
    "-x",
    "--nope",
    "--exp=mini",
    "--run-of=" + "9" * 30,
    "--fail-on=fails,,",
    "@file",
)


def command_line(rng: random.Random) -> Case:
    pool = (
        *COMMANDS,
        *OPTIONS,
        *POLICIES,
        *ADVERSARIES,
        *CLAIMS,
        *WORDS,
        "mini",
        "results/jobs/x.json",
        "results/mini/plan.json",
        "../x",
        "/",
        "results",
        "block",
        "a.pdf",
    )
    first = rng.choice(
        (*COMMANDS[1:5], *COMMANDS[1:5], *COMMANDS, "", "List", "make", "x", "--", "-h")
    )
    more = [rng.choice(pool) for _ in range(rng.choice((0, 1, 1, 2, 3, 5)))]
    whole = ["experiment=tiny"] if first == "config" else []  # of `paper` it takes seconds
    parts = (first, *whole, *more)
    return Case("words", first[:12] or "''", parts, parts)


SIMULATED: Mapping[str, Any] = {
    "policy": "uniform",
    "adversary": "switching",
    "K": 2,
    "T": 2000,
    "B": 400,
    "V": 2,
    "seeds": 2,
}
"""A call of `simulate` that runs."""


def call(rng: random.Random) -> Case:
    """A call of `simulate` or `load` with arguments of Python's own."""
    import numpy as np

    own: dict[str, Any] = {
        **SIMULATED,
        "first_seed": 0,
        "idle": "expected",
        "proxy": "means",
        "options": {},
        "gap": 0.2,
        "experiment": "mini",
        "results": "results",
    }
    name = rng.choice(list(own))
    load = name in ("experiment", "results")
    odd = rng.choice(
        (
            *PLAIN,
            *WORDS,
            *KEYS,
            np.int64(3),
            np.float32(0.1),
            np.nan,
            np.arange(3),
            1j,
            object,
            Path("x"),
            range(3),
            2.0,
            np.bool_(True),
        )
    )
    return Case("load" if load else "simulate()", name, ((name, odd),), (name, str(odd)))


def json_file(kind: str, name: str, there: Any) -> Callable[[random.Random], Case]:
    """A JSON file of the results, with values changed."""

    def draw(rng: random.Random) -> Case:
        made = values(kind, lambda: there.json(name))(rng)
        return made._replace(parts=(name, *made.parts), touched=(name, *made.touched))

    return draw
