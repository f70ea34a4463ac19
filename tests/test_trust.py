"""Nothing in conf or data is evaluated: hostile files touch no canary and write nowhere else.

Each canary is first shown to be touched by what would evaluate it.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import pickle
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from confee.claims import ledger
from confee.claims.judging.finding import Control, Correction, Finding, Reading
from confee.config import conf_files, experiments
from confee.config.reproduce import snakemake
from confee.core.errors import ConfeeError
from confee.rendering.tables.write import latex
from confee.rendering.words import rst
from confee.simulation import files
from confee.workflow import api, cli, jobs, results
from confee.workflow.planning import Workflow
from snakemake_logger_plugin_confee import last_line
from support import fresh

ROOT = Path(__file__).parents[1]
CELL = {"K": 2, "T": 2000, "B": 400, "V": 2}


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A file that nobody may make, in a folder of its own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "canary"


# --------------------------------------------------------------------------- the sources

NAMES = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "torch",
    "subprocess",
    "pty",
    "runpy",
    "code",
    "hydra.utils",
    "ctypes",
}
CALLS = {
    "eval",
    "system",
    "popen",
    "read_pickle",
    "to_pickle",
    "instantiate",
    "unsafe_load",
    "full_load",
    "load_all",
    "get_method",
    "get_class",
    "get_object",
    "register_new_resolver",
    "fromfile",
    "execv",
    "spawnv",
}
IMPORTERS = {
    "__init__.py": "what `confee` exports",
    "core/plugins.py": "modules of a folder of one's own: code by intent",
    "claims/__init__.py": "its own modules",
    "rendering/catalogue.py": "figures and tables that are registered",
    "workflow/jobs.py": "studies that are known",
}
"""Where modules are imported by name, and what names they may have."""


def evaluators(text: str, place: str = "") -> list[str]:
    """What of a source could run a text or an object of data."""
    found = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                found += [n.name for n in names if n.name in MODULES]
            case ast.ImportFrom(module=str(module), names=names):
                whole = {module, *(f"{module}.{n.name}" for n in names)}
                found += whole & MODULES
                found += [n.name for n in names if n.name in CALLS]
            case ast.Call(func=ast.Name(id=name)) if name in NAMES | CALLS:
                found.append(name)
            case ast.Call(
                func=ast.Attribute(attr="load", value=ast.Name(id="yaml")), keywords=keys
            ):
                safe = [
                    k
                    for k in keys
                    if k.arg == "Loader"
                    and ast.unparse(k.value).endswith((".BaseLoader", ".SafeLoader"))
                ]
                found += [] if safe else ["yaml.load"]
            case ast.Call(func=ast.Attribute(attr="load", value=ast.Name(id="np" | "numpy"))):
                found.append("np.load")
            case ast.Call(func=ast.Attribute(attr="import_module")) if place not in IMPORTERS:
                found.append("import_module")
            case ast.Call(func=ast.Attribute(attr=name, value=of)) if (
                name in CALLS and ast.unparse(of) != "platform"
            ):
                found.append(name)
            case ast.keyword(arg="allow_pickle" | "shell", value=ast.Constant(value=True)):
                found.append("allow_pickle or shell")
    return found


@pytest.mark.parametrize(
    "text",
    [
        "eval(x)",
        "exec(x)",
        "import pickle",
        "from pickle import loads",
        "yaml.load(x)",
        "yaml.unsafe_load(x)",
        "yaml.load(x, Loader=yaml.Loader)",
        "np.load(x, allow_pickle=True)",
        "os.system(x)",
        "import subprocess",
        "from hydra.utils import instantiate",
        "from hydra import utils",
        "hydra.utils.instantiate(x)",
        "importlib.import_module(x)",
        "pd.read_pickle(x)",
        "run(x, shell=True)",
        "df.eval(x)",
        "__import__(x)",
    ],
)
def test_the_audit_sees_what_evaluates(text):
    assert evaluators(text)


def test_no_source_evaluates_anything():
    sources = sorted((ROOT / "src").rglob("*.py"))
    assert len(sources) > 100
    seen = {
        file: evaluators(
            file.read_text(),
            file.relative_to(ROOT / "src/confee").as_posix()
            if file.is_relative_to(ROOT / "src/confee")
            else file.name,
        )
        for file in sources
    }
    # The report asks git for the commit, with constant arguments.
    used = {file.name: found for file, found in seen.items() if found}
    assert used == {"report.py": ["subprocess"]}
    rules = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]
    assert len(rules) == 5
    for file in rules:
        text = file.read_text()
        assert not re.search(
            r"\b((eval|exec|system|popen)\(|import (pickle|yaml|subprocess)|(script|run):)", text
        ), file
        # What a rule's shell is given is a name of the project's own, or quoted.
        assert set(
            re.findall(r"\{([^{}]+)\}", "".join(re.findall(r'shell:\s+f?"(.*)"', text)))
        ) <= {
            "confee",
            "params.plan",
            "params.key",
            "params.names",
            "log",
            "output",
            "output.files",
            "output.file",
            "input.job",
            "wildcards.name",
            "os.getpid()",
        }


# --------------------------------------------------------------------------- conf

TOUCH = "!!python/object/apply:os.system ['touch canary']"
HOSTILE = {
    "a tag": f"name: {TOUCH}\n",
    "a tag as a key": f"? {TOUCH}\n: 1\n",
    "a tag in a value": f"policies: {{x: {{name: hyque, scale: {TOUCH}}}}}\n",
    "new": "name: !!python/object/new:os.system ['touch canary']\n",
    "a module": "name: !!python/module:canary\n",
    "a target": "policies: {x: {_target_: os.system, _args_: ['touch canary'], name: hyque}}\n",
    "a target on top": "_target_: os.system\n_args_: ['touch canary']\n",
    "the environment": "name: ${oc.env:HOME}\n",
    "a decoder": "name: \"${oc.decode:'[1]'}\"\n",
    "a resolver by another key": "x: oc.env\nname: ${${x}:HOME}\n",
    "a run folder": "hydra: {run: {dir: canary}, output_subdir: canary, job: {chdir: true}}\n",
    "logging": "hydra: {job_logging: {version: 1, handlers: {f: {class: logging.FileHandler, "
    "filename: canary}}, root: {handlers: [f]}}}\n",
    "a search path": "hydra: {searchpath: ['file:///', 'pkg://canary']}\n",
    "a callback": "hydra: {callbacks: {x: {_target_: os.system, _args_: ['touch canary']}}}\n",
    "a resolver in a list of files": "defaults: [/experiment/tiny, "
    "{/policy@policies.x: '${oc.env:USER_POLICY,ucb1}'}]\n",
    "home in a list of files": "defaults: [/experiment/tiny, {/policy@policies.x: "
    "'${oc.env:HOME}'}]\n",
    "a launcher that exists": "defaults: [/experiment/tiny, {override /hydra/launcher: basic}]\n",
    "a launcher": "defaults: [{override /hydra/launcher: canary}]\n",
    "a folder above": "name: ../../canary\n",
    "a shell's words": "name: '$(touch canary)'\n",
    "one bomb": "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "a circle": "a: &a [*a]\n",
}


@pytest.fixture
def own(canary, monkeypatch):
    """Writes a file into a folder of one's own."""
    monkeypatch.setenv("CONFEE_EXTRA", str(canary.parent / "own"))

    def write(text: str, group: str = "experiment", name: str = "hostile") -> None:
        file = canary.parent / "own/conf" / group / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


def test_the_canary_is_touched_by_loaders_that_evaluate(canary):
    yaml.unsafe_load(HOSTILE["a tag"])
    assert canary.exists()
    canary.unlink()
    from hydra.utils import instantiate

    instantiate({"_target_": "confee.simulation.files.write_text", "path": "canary", "text": ""})
    assert canary.exists()
    canary.unlink()
    os.system("echo " + yaml.safe_load(HOSTILE["a shell's words"])["name"])
    assert canary.exists()


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_experiment_runs_nothing(own, canary, what):
    defaults = "" if "defaults" in HOSTILE[what] else "defaults: [/experiment/tiny]\n"
    own(f"# @package _global_\n{defaults}{HOSTILE[what]}")
    with pytest.raises(ConfeeError) as refused:
        Workflow({"overrides": "experiment=hostile"})
    assert os.environ["HOME"] not in str(refused.value)
    assert os.listdir(canary.parent) == ["own"]


@pytest.mark.parametrize("group", ["policy", "adversary"])
@pytest.mark.parametrize(
    "text",
    [f"name: {TOUCH}", f"{TOUCH}", "name: uniform\n_target_: os.system", "name: '${oc.env:HOME}'"],
)
def test_a_hostile_policy_or_adversary_runs_nothing(own, canary, capsys, group, text):
    own(text, group)
    words = {"policy": "uniform", "adversary": "switching"} | {group: "hostile"}
    given = [f"{key}={value}" for key, value in (words | CELL).items()]
    with pytest.raises(SystemExit) as stop:
        cli.main(["simulate", *given])
    assert os.environ["HOME"] not in str(stop.value.code)
    assert os.listdir(canary.parent) == ["own"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xef\xbb\xbf# @package _global_\n", "begins with a byte-order mark"),
        (b"# @package hydra.job\nname: canary\n", "# @package hydra: must not"),
        (b"#" * 10**6 + b"#", "must be a file of at most 1000000 bytes"),
        (b"3\n", "must be a mapping"),
        (b"a: [1\n\tb", "line 2: not YAML: found character"),
        (b"a: 1\n---\nb: 2\n", "line 2: not YAML: but found another document"),
        (b"a: \xe9\n", "not YAML: invalid continuation byte"),
    ],
)
def test_a_file_of_ones_own_that_is_none_is_named(own, canary, text, said):
    own("")
    file = canary.parent / "own/conf/experiment/hostile.yaml"
    file.write_bytes(text)
    with pytest.raises(ConfeeError, match=f"^{re.escape(f'{file}: {said}')}"):
        experiments.experiment("experiment=tiny")


@pytest.mark.parametrize("named", ["CONFEE_EXTRA", "CONFEE_CONF"])
@pytest.mark.parametrize("place", ["policy", "experiment", "policy/sub", "else", "linked"])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("a pipe", "must be a file of at most"),
        ("a device", "must be a file of at most"),
        ("a link to nowhere", "cannot be read: No such file"),
        ("a bomb", "too large with its aliases"),
    ],
)
def test_a_file_that_is_not_asked_for_does_not_hang(
    canary, monkeypatch, capsys, named, place, what, said
):
    """Hydra may come to any of them, by a list of files."""
    base = canary.parent / "own"
    monkeypatch.setenv(named, str(base if named == "CONFEE_EXTRA" else base / "conf"))
    if named == "CONFEE_CONF":
        shutil.copytree(ROOT / "conf", base / "conf")
    file = base / "conf" / place / "zz.yaml"
    if place == "linked":
        (canary.parent / "elsewhere").mkdir()
        file.parent.parent.mkdir(parents=True, exist_ok=True)
        file.parent.symlink_to(canary.parent / "elsewhere")
        (canary.parent / "elsewhere/round").symlink_to(file.parent)  # links may go in a circle
    file.parent.mkdir(parents=True, exist_ok=True)
    match what:
        case "a pipe":
            os.mkfifo(file)
        case "a device":
            file.symlink_to("/dev/zero")
        case "a link to nowhere":
            file.symlink_to("/nowhere")
        case "a bomb":
            file.write_text(HOSTILE["one bomb"])
    with pytest.raises(ConfeeError, match=f"^{re.escape(str(file))}: {said}"):
        experiments.experiment("experiment=tiny")
    if place == "experiment" and what != "a bomb":
        with pytest.raises(SystemExit, match=said):
            cli.main(["list"])


def test_what_nobody_asks_for_is_passed_over(own, canary):
    """What editors and systems hide, and notes beside the files that Hydra is asked for."""
    base = canary.parent / "own/conf/experiment"
    own("defaults: [/experiment/tiny]\n", name="mine")
    (base / ".#mine.yaml").symlink_to("user@host.1")
    (base / "._mine.yaml").write_bytes(b"\0\5\x16\7")
    (base / "folder.yaml").mkdir()
    (base / ".hidden").mkdir()
    (base / ".hidden/x.yaml").write_bytes(b"\xff")
    (base.parent / "notes.yaml").write_text("- a list\n")
    (base.parent / "broken.yaml").write_text("[")
    policies = canary.parent / "own/policies"
    policies.mkdir()
    (policies / "._mine.py").write_bytes(b"\0\5\x16\7")
    assert experiments.experiment("experiment=tiny").name == "tiny"
    assert "mine" in conf_files.files("experiment")


@pytest.mark.parametrize(
    "text",
    [
        "\n  # @package hydra.job\nname: x\n",
        "# @package _global_.hydra.job\nname: x\n",
        "defaults: [/policy@hydra.job: ucb1]\n",
        "defaults: [/policy/ucb1@hydra.job]\n",
    ],
)
def test_what_is_hydras_is_not_set_from_anywhere(own, canary, text):
    own(text)
    with pytest.raises(ConfeeError, match=r"hostile\.yaml: (# @package )?hydra: "):
        experiments.experiment("experiment=tiny")
    own("# A word on\n# @package hydra settings\ndefaults: [/experiment/tiny]\n")
    assert experiments.experiment("experiment=tiny").name == "tiny"


def test_files_are_read_and_written_in_utf_8_whatever_the_locale():
    """`open` and its like take the locale's encoding if they are not told one."""
    lacking = []
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            of = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
            words = [one.value for one in node.args if isinstance(one, ast.Constant)]
            binary = any("b" in word for word in words if isinstance(word, str) and len(word) < 4)
            if name in ("open", "read_text", "write_text") and of not in ("os", "Image", "files"):
                told = any(one.arg == "encoding" for one in node.keywords)
                if not (told or binary or ast.unparse(node).startswith(("write_text", "conf."))):
                    lacking.append(f"{file.name}:{node.lineno}: {ast.unparse(node)}")
    assert not lacking


def test_a_folder_of_ones_own_may_have_any_name_and_must_be_one(canary, monkeypatch):
    quoted = canary.parent / r"o'w\n"
    (quoted / "conf/experiment").mkdir(parents=True)
    monkeypatch.setenv("CONFEE_EXTRA", str(quoted))
    (quoted / "conf/experiment/mine.yaml").write_text(
        "# @package _global_\ndefaults: [/experiment/tiny]\nname: mine\n"
    )
    assert experiments.experiment("experiment=mine").name == "mine"
    (canary.parent / "conf").write_text("")
    for folder, named in (
        (canary.parent, canary.parent / "conf"),
        ("~no-such-user/x", "~no-such-user/x"),
    ):
        monkeypatch.setenv("CONFEE_EXTRA", str(folder))
        with pytest.raises(ConfeeError, match=f"{re.escape(str(named))}: must be a folder"):
            experiments.experiment("experiment=tiny")


def test_interpolations_of_other_keys_are_fine(own):
    own(
        "# @package _global_\ndefaults: [/experiment/tiny]\nname: own\ncentre: {V: '${centre.K}'}\n"
    )
    assert experiments.experiment("experiment=hostile").grid.centre["V"] == 2
    with pytest.raises(ConfeeError, match=r"^centre.V=\$\{oc.env:HOME\}: must not call a resolver"):
        experiments.experiment(["experiment=tiny", "centre.V=${oc.env:HOME}"])


@pytest.mark.slow
def test_snakemake_takes_overrides_as_text(tmp_path):
    for name in ("Snakefile", "workflow", "profiles"):
        (tmp_path / name).symlink_to(ROOT / name)
    said = fresh.python(
        "-m",
        "snakemake",
        "-n",
        "--cores",
        "1",
        "--config",
        f"overrides={TOUCH}",
        cwd=tmp_path,
        env={**os.environ, "CONFEE_CONF": str(ROOT / "conf")},
    )
    assert said.returncode == 1
    assert "Traceback" not in said.stderr
    assert not (tmp_path / "canary").exists()
    assert not (tmp_path / "results").exists()


# --------------------------------------------------------------------------- parquet


class Touch:
    def __reduce__(self):
        return os.system, ("touch canary",)


PAYLOAD = pickle.dumps(Touch())


def put(table: pa.Table, metadata: dict[bytes, bytes]) -> None:
    """As a unit, as an experiment's runs, and as a table that confee wrote."""
    about = {b"confee": b"{}", b"confee.rows": files.rows_hash(table)} | metadata
    Path("results/x").mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(about), "results/x/regret.parquet")


def named(names: str) -> bytes:
    column = {
        "name": "a",
        "field_name": "a",
        "pandas_type": names,
        "numpy_type": names,
        "metadata": PAYLOAD.hex(),
    }
    return json.dumps(
        {
            "index_columns": [names],
            "column_indexes": [column],
            "columns": [column],
            "pandas_version": "0",
        }
    ).encode()


def test_a_payload_is_live(canary):
    pickle.loads(PAYLOAD)
    assert canary.exists()


@pytest.mark.parametrize(
    "names", ["object", "os.system", "period[os]", "a" * 1000, "category", "V9999999"]
)
def test_what_pandas_metadata_say_is_not_looked_up(canary, names):
    put(pa.table({"a": [1, 2]}), {b"pandas": named(names)})
    frame = api.load("x")
    assert list(frame["a"]) == [1, 2]
    assert str(frame["a"].dtype) == "int64"
    assert os.listdir(canary.parent) == ["results"]


def test_types_of_somebodys_own_and_objects_are_refused(canary):
    own = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": PAYLOAD}
    fields = [
        pa.field("a", pa.binary(), metadata=own),
        pa.field("a", pa.binary()),
        pa.field("a", pa.string(), metadata={"ARROW:extension:name": "arrow.uuid"}),
        pa.field("a", pa.list_(pa.int64())),
        pa.field("a", pa.struct([("b", pa.int64())])),
    ]
    for field, value in zip(fields, (PAYLOAD, PAYLOAD, "x", [1], {"b": 1}), strict=True):
        put(pa.table({"a": pa.array([value], field.type)}, schema=pa.schema([field])), {})
        with pytest.raises(ConfeeError, match="damaged or not confee's"):
            api.load("x")
    assert os.listdir(canary.parent) == ["results"]


def test_few_bytes_that_stand_for_much_are_refused(canary, monkeypatch):
    """16 kB that would be 16 MB; the limit is lowered, not the memory spent."""
    table = pa.table({"a": pa.array([7] * 2_000_000, pa.int64())})
    put(table, {})
    assert Path("results/x/regret.parquet").stat().st_size < 100_000
    assert len(api.load("x")) == 2_000_000
    monkeypatch.setattr(files, "LARGEST", 10**6)
    with pytest.raises(ConfeeError, match="damaged or not confee's"):
        api.load("x")
    deep = b'{"confee":' * 50_000
    put(pa.table({"a": [1]}), {b"confee": deep})
    with pytest.raises(ConfeeError, match="damaged or not confee's"):
        api.load("x")


# --------------------------------------------------------------------------- plans, jobs, ledgers


def write(name: str, said: dict) -> str:
    files.write_text(name, files.sealed(said))
    return name


BAD_NAMES = [
    "../canary",
    "/tmp/canary",
    "os",
    "..",
    "a.b",
    "x;touch canary",
    "$(touch canary)",
    "",
    None,
    3,
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_hostile_job_imports_and_writes_nothing(canary, name):
    """However well it is sealed."""
    file = write(
        "results/jobs/x.json",
        {"kind": "study", "units": [{"name": name, "parameters": {}, "seconds": 1}]},
    )
    with pytest.raises(ConfeeError, match="unknown; known: ages"):
        jobs.do_job(file)
    key = {"policy": name, "options": {}, **CELL}
    play = {"kind": "play", "units": [{"cell": key, "opponents": [], "file": "../canary"}]}
    with pytest.raises(ConfeeError, match="unknown; known: adswitch"):
        jobs.do_job(write(file, play))
    assert [f.name for f in canary.parent.rglob("*")] == ["results", "jobs", "x.json"]


@pytest.mark.parametrize("name", [*BAD_NAMES[:-2], "a" * 300, "a\nb", "-rf"])
def test_a_plan_names_no_folder_elsewhere(canary, name):
    if name == "os":
        return
    plan = write("results/jobs/plan.json", {"about": {"config": {"name": name}}})
    with pytest.raises(ConfeeError, match="must be the name of an experiment"):
        results.folder(results.read_plan(Path(plan)))
    with pytest.raises(ConfeeError, match=r"^name="):
        Workflow(
            {
                "overrides": ["experiment=tiny", f"name={name}"]
                if name
                else ["experiment=tiny", "name=''"]
            }
        )


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("1", "2", 1),
        lambda t: t[:-3],
        lambda t: "{}",
        lambda t: t.replace('"sha256"', '"sha"'),
    ],
)
def test_what_is_sealed_is_refused_once_it_was_changed(canary, change):
    file = Path(write("results/jobs/x.json", {"kind": "play", "units": [1]}))
    assert files.read_sealed(file, "", "") == {"kind": "play", "units": [1]}
    file.write_text(change(file.read_text()))
    with pytest.raises(ConfeeError, match=r"x\.json: damaged"):
        files.read_sealed(file, "", "make it again")


def test_commands_to_paste_are_quoted(canary):
    """A ledger's overrides are shown as a command that settles a claim again."""
    for hostile in (
        "a=$(touch canary)",
        "a=`touch canary`",
        "a='; touch canary; '",
        'a="; touch canary; "',
    ):
        words = snakemake(hostile)
        os.system(f"true {words.removeprefix('snakemake')}")
        assert not canary.exists(), words
    os.system("true $(touch canary)")
    assert canary.exists()


STEERS = "\x1b]0;title\x07\x1b[31m\u202e\x9b"


@pytest.mark.parametrize(
    "overrides", ["a=`b`", "a=``b", "a=b`", "a=```` $(b)", "a=b", "'a=x\n\n# title'", f"a={STEERS}"]
)
def test_a_command_stays_within_its_code_span(overrides):
    """CommonMark: a span ends with the first run of as many backticks, and with its paragraph."""
    finding = Finding("idle-runs", "x", "x", "holds", "x", "x", "x")
    text = ledger.to_markdown([finding], overrides=overrides)
    (line,) = [line for line in text.splitlines() if "Run again" in line]
    fence, inside = re.fullmatch(r"[^`]*?(`+)(.*?)(?<!`)\1\.", line).groups()
    assert fence not in re.findall("`+", inside)
    assert inside.isprintable()
    said = ledger.settle(finding, overrides, [finding])
    if said.isprintable():
        assert inside.strip(" ") == said
    assert "# title" not in text.splitlines()


def test_nothing_of_a_users_own_steers_the_terminal(canary, capsys, monkeypatch):
    """Summaries of one's own, overrides of a ledger, files that cannot be read, logs of jobs."""
    own = canary.parent / "own"
    files.write_text(
        own / "policies" / "mine.py",
        (
            "from dataclasses import replace\nfrom confee.policies.uniform import POLICY as IT\n"
            f"POLICY = replace(IT, id='mine', summary={STEERS!r})\n"
        ),
    )
    files.write_text(own / "conf" / "experiment" / "odd.yaml", f"# {STEERS}\nname: odd\n")
    env = {**os.environ, "CONFEE_EXTRA": str(own)}
    listed = fresh.python("-m", "confee", "list", env=env)
    assert listed.returncode == 0
    finding = Finding("idle-runs", "x", "x", "holds", "x", "x", "x")
    said = ledger.to_json([finding], {"overrides": f"a='{STEERS}'"})
    files.write_text("results/x/claims.json", said)
    cli.main(["claims", "idle-runs", "--experiment", "x"])
    with pytest.raises(SystemExit) as stop:
        cli.main(["do", f"{STEERS}.json"])
    files.write_text("a.log", f"IndexError: {STEERS}\n")
    shown = [listed.stdout, capsys.readouterr().out, stop.value.code, last_line("a.log")]
    for text in shown:
        assert text.replace("\n", "").isprintable()
        assert "title" in text


# --------------------------------------------------------------------------- pages


def test_words_of_results_are_text_wherever_they_are_shown():
    """HTML in the page, reStructuredText in Snakemake's, LaTeX in tables and captions."""
    from confee.rendering.report.formulas import marked

    page = str(
        marked("<script>x</script> $<img onerror=x>$ $\\text{<b>}$ $\\href{javascript:x}{y}$")
    )
    assert not re.search(r"<(script|img|b|a)\b", page)
    for directive in (
        ".. raw:: html\n\n   <script>",
        "x\n\n.. include:: /etc/passwd",
        "  .. raw:: html",
    ):
        assert not re.search(r"(?m)^\s*\.\.", rst(directive))
    for command in (
        r"\input{/etc/passwd}",
        r"\write18{touch canary}",
        r"\openout1=x",
        r"\csname input\endcsname",
        "^^5cinput{x}",
        r"\catcode`\@=0",
        r"\@@input x",
        r"\def\x{}",
    ):
        for text in (command, f"${command}$", f"a ${command}$ b $T$"):
            assert not re.search(r"\\(?!textbackslash|text\w+|[{}$_^&%#])[a-z@]+", latex(text)), (
                text
            )
            assert "^^" not in latex(text)
    assert latex(r"a $T^{-1/3}$ and $\frac{\ln B}{K}$") == r"a $T^{-1/3}$ and $\frac{\ln B}{K}$"


def test_a_hostile_ledger_is_shown_as_text(canary, capsys):
    words = "[link=file:///x]\x1b]0;title\x07 <script> $(touch canary)"
    steers = words
    words = words.replace("\x1b", "").replace("\x07", "")
    odd = Finding(
        "idle-runs",
        words,
        words,
        "holds",
        words,
        words,
        words,
        controls=(Control(words, "fails", True, note=words),),
        corrections=(Correction(words, words, words, "typo", words, words, shown=words),),
        readings=(Reading(words, "fails", words),),
    )
    files.write_text(
        "results/x/claims.json", ledger.to_json([odd], {"overrides": "a='$(touch canary)'"})
    )
    cli.main(["claims", "idle-runs", "--experiment", "x"])
    cli.main(["claims", "--experiment", "x"])
    assert "[link=file:///x]]0;title <script> $(touch canary)" in capsys.readouterr().out
    files.write_text(
        "results/x/claims.json", ledger.to_json([dataclasses.replace(odd, why=steers)])
    )
    with pytest.raises(SystemExit, match=r"claims\.json: damaged"):
        cli.main(["claims", "--experiment", "x"])
    assert not canary.exists()
