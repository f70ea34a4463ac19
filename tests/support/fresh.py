"""Python programs in new processes, some two seconds sooner than `python` starts them.

A process that has imported what is not confee's (numba, Hydra, Snakemake) waits, and forks for each
program: confee itself, its settings and one's own files are read anew. A test of the interpreter
(its hash seed, signals to it, what it imports, NUMBA_DISABLE_JIT) starts a real one.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from pathlib import Path


def python(*words, cwd=None, env=None, merged=False, timeout=300):
    """What `python *words` does, `words` being -m or -c, what that takes, and arguments: its exit
    code, stdout and stderr (`merged`: in stdout)."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder, name) for name in ("out", "err"))
        program = {
            "words": [str(word) for word in words],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "out": str(out),
            "err": str(out if merged else err),
        }
        server = _server()
        watch = threading.Timer(timeout, server.kill)
        watch.start()
        try:
            server.stdin.write(json.dumps(program) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
        finally:
            watch.cancel()
        said = [file.read_text() if file.exists() else "" for file in (out, err)]
    return subprocess.CompletedProcess(words, code, *said)


@functools.cache
def _server():
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        [sys.executable, __file__],
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    return server


def _wait():
    """In each child: the program that it is to become. The parent answers with exit codes."""
    import hydra  # noqa: F401
    import numba
    import pyarrow.parquet  # noqa: F401
    import snakemake.cli  # noqa: F401

    numba.njit(lambda x: x)(1)  # makes it read its own tables
    gc.freeze()  # or the first collection in a child copies all pages
    answers = os.dup(1)
    while line := os.read(0, 1 << 20):
        while not line.endswith(b"\n"):
            line += os.read(0, 1 << 20)
        if not (child := os.fork()):
            os.close(answers)
            return json.loads(line)
        _, status = os.waitpid(child, 0)
        os.write(answers, b"%d\n" % os.waitstatus_to_exitcode(status))
    return None


def _become(program):
    os.chdir(program["cwd"])
    os.environ.clear()
    os.environ.update(program["env"])
    kind, what, *rest = program["words"]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(program[name], flags), number)
    first = program["cwd"] if kind == "-m" else ""
    own = filter(None, program["env"].get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:1] = [first, *own]
    sys.argv = [kind, *rest]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


def _end(code):
    """As Python ends, but for tidying up what the parent needs, which takes a second."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__" and (begun := _wait()):
    try:
        _become(begun)
        _end(0)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        _end(stop.code if isinstance(stop.code, int) else int(stop.code is not None))
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _end(1)
