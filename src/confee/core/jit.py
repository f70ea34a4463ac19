"""numba, with a cache folder for each module, whose name holds a hash of all it is compiled from.

numba's cache notices an edit of a function's own file only: a cached kernel that calls an edited
helper in another file would run the old code. So every version of a module and of what it imports
has a folder of its own, and an edit compiles what it touches and nothing else. `CONFEE_CACHE` names
the root; otherwise it is the user's cache folder, or a temporary one where that can't be written.
In it each kind of CPU has its folders: on a cluster's shared disk one that compiles leaves alone
what another is reading (numba numbers its files without a lock, whatever CPU they are for).
What lies there is code (numba pickles compiled functions): who can write to it can run programs.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import io
import os
import re
import stat
import tempfile
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from llvmlite import binding, ir

from confee.core.errors import ConfeeError
from confee.core.sources import PACKAGE, code_hash, source_file
from confee.core.startup import without

with without("scipy"):  # of which numba wants no more than the version
    import numba
    from numba.core import caching
    from numba.extending import intrinsic, overload


def _root() -> Path:
    """Raises ConfeeError if CONFEE_CACHE names the home of no user."""
    named = os.environ.get("CONFEE_CACHE")
    home = named or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    candidates = [Path(tempfile.gettempdir()) / f"confee-{os.getuid()}"]
    try:
        base = Path(home).expanduser()
        candidates.insert(0, base.absolute() if named else base / "confee")
    except RuntimeError:  # a user without a home, in a container
        if named:
            raise ConfeeError(f"CONFEE_CACHE={named}: must be a folder") from None
    for root in candidates:
        try:
            root.mkdir(0o700, parents=True, exist_ok=True)
            if not _ours(root) and not (named and root == candidates[0]):
                continue
            with tempfile.TemporaryFile(dir=root):
                return root
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="confee-"))


def _cpu() -> str:
    """The kind of CPU that numba compiles for here, by all that its cache tells them apart by."""
    name = numba.config.CPU_NAME or binding.get_host_cpu_name()  # type: ignore[attr-defined]
    features = numba.config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return f"{name}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"


def _ours(folder: Path) -> bool:
    """Whether it is this user's, no link, and not everybody can write to it. Its name can be
    guessed, so another user may have put kernels there. A group that can write loses that right."""
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & stat.S_IWOTH:
        return False
    if seen.st_mode & stat.S_IWGRP:
        folder.chmod(stat.S_IMODE(seen.st_mode) & ~stat.S_IWGRP)
    return True


ROOT = _root()
HERE = ROOT / _cpu()
HERE.mkdir(exist_ok=True)
# Both: numba reads the variable when it is imported, and again whenever the environment changes.
os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = str(ROOT)  # type: ignore[attr-defined]


def prepare() -> None:
    """What numba imports at the first call of a kernel, but for scipy.linalg (0.3 CPU s): it only
    wants to know whether that is there. A kernel that does linear algebra imports it itself."""
    with without("scipy", "scipy.linalg"):
        from numba.np import arraymath
    arraymath._HAVE_BLAS = True


@functools.cache
def folder(module: str) -> Path:
    """The cache folder of a module of confee, or of one's own beside it."""
    made = HERE / f"kernels-{code_hash([module])}"
    if not source_file(module).is_relative_to(PACKAGE):  # type: ignore[union-attr]
        from confee.core import following

        following.compiled(module)
    made.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # another user's, perhaps
        os.utime(made)  # its date says when it was last used, see `prune`
    return made


def njit(function: Callable[..., Any], **more: Any) -> Any:
    """The decorator of every kernel: nopython, x / 0.0 as in numpy, cached in its module's folder.

    A function from elsewhere (a test, a notebook) is compiled anew in each process.
    """
    _made.append(function)
    cached = source_file(function.__module__) is not None
    if cached:  # numba reads this now, as it makes the function's cache
        numba.config.CACHE_DIR = str(folder(function.__module__))  # type: ignore[attr-defined]
    more = {"_nrt": True, **more}  # else taken over from whoever calls it first
    made = numba.njit(cache=cached, error_model="numpy", **more)(function)
    if cached and not disabled():
        made._cache._cache_file.__class__ = _Sealed
    return made


class _Sealed(caching.IndexDataCacheFile):
    """numba's files of a kernel, each with a hash of itself at its end. numba unpickles what it
    finds and runs it, so what is damaged is not read; it is compiled anew."""

    def _load_index(self):
        return super()._load_index() if _whole(self._index_path) else {}

    def _load_data(self, name):
        if not _whole(self._data_path(name)):
            raise FileNotFoundError(name)  # of which numba makes nothing
        return super()._load_data(name)

    @contextlib.contextmanager
    def _open_for_write(self, filepath):
        held = io.BytesIO()
        yield held
        data = held.getvalue()
        with super()._open_for_write(filepath) as file:
            file.write(data + hashlib.sha256(data).digest())


def _whole(path: str) -> bool:
    """Whether a file ends with the hash of what it holds before."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return False
    return data[-32:] == hashlib.sha256(data[:-32]).digest()


_made: list[Callable[..., Any]] = []
"""What was given to `njit`."""


def disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT is set: kernels are Python functions then."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def plainly(kernel: Any) -> Any:
    """What a kernel was compiled from; None if it was not. With NUMBA_DISABLE_JIT nothing is."""
    return kernel if disabled() else getattr(kernel, "py_func", None)


def over(kernel: Any, module: str, **names: Callable[..., Any]) -> Any:
    """`kernel`, calling other functions by some of the names it calls: compiled for `module` and
    cached with it, so that an edit of either side compiles it anew.

    So a policy is written once, in plain calls, over whatever base algorithm and game there are; a
    function passed as an argument would cost each call and could not be cached.
    """
    plain = plainly(kernel)
    if plain is None:
        raise ConfeeError(f"{module}: over must be given a kernel that @njit compiled")
    made = types.FunctionType(plain.__code__, {**plain.__globals__, **names}, plain.__name__)
    made.__module__, made.__doc__ = module, plain.__doc__
    # numba's cache tells kernels by file, name and bytecode, not by what they call.
    this = module, plain.__module__, plain.__qualname__
    _times[this] += 1
    made.__qualname__ = plain.__qualname__ + (f"_{_times[this]}" if _times[this] > 1 else "")
    return njit(made)


_times: Counter[tuple[str, str, str]] = Counter()
"""How often `over` was asked by a module for a kernel: in the same order by the same source."""


def leaf(function: Callable[..., Any], **more: Any) -> Any:
    """The same for what makes no array and returns none, as the steps of a round do.

    numba counts the references to a function's arrays, an atomic instruction each time, some 5 ns;
    in a leaf it does not. So an array returned by one would be freed too early: that is refused
    when it is compiled.
    """
    made = njit(function, _nrt=False, **more)
    if disabled():
        return made
    compiled = made.compile

    def checked(signature: Any) -> Any:
        found = compiled(signature)
        for one in made.overloads.values():
            if "array(" in str(one.signature.return_type).lower():
                raise ConfeeError(f"{function.__name__}: a leaf must return no array")
        return found

    made.compile = checked
    return made


def inlined(function: Callable[..., Any]) -> Any:
    """A leaf that is pasted into its callers: passing four arrays costs a call some 10 ns."""
    return leaf(function, forceinline=True)


def larger(this, that):
    """The larger of two doubles, no NaN: compiled, one instruction.

    Of `x = y if y > x else x` LLVM makes a masked store where x is an array's entry, and that takes
    AMD some twenty instructions.
    """
    return max(this, that)


def _largest(_, this, that):
    def generate(context, builder, signature, arguments):
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        found = builder.module.declare_intrinsic("llvm.maxnum", [double], kind)
        return builder.call(found, arguments, fastmath=("nnan",))

    return numba.types.float64(numba.types.float64, numba.types.float64), generate


_maxnum: Any = intrinsic(_largest)


@overload(larger)
def _larger(this, that):
    return lambda this, that: _maxnum(this, that)


def is_numbas(error: BaseException) -> bool:
    """Whether a kernel does not compile."""
    return type(error).__module__.startswith("numba.")


def reason(error: BaseException) -> str:
    """numba's pages, in one line: `<file>: line <n>: <what it does not take>`. Of other errors,
    their type and text."""
    if not is_numbas(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in", "File ", "- Resolution"))]
    what = [*told, *lines, ""][0]
    if what.endswith("found for signature:"):  # which stands below
        below = (line.removeprefix(">>> ") for line in told if line.startswith(">>> "))
        what = f"there is no {next(below, what)}"
    places = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    if unknown := re.search(r"NameError: name '(\w+)'", what):  # numba does not say where
        used = {use for function in _made for use in _uses(unknown[1], function)}
        places = sorted(used) if len(used) == 1 else places
    return (f"{places[-1][0]}: line {places[-1][1]}: " if places else "") + what


def _uses(name: str, function: Callable[..., Any]) -> Iterator[tuple[str, int]]:
    """File and line wherever a kernel uses a name that its module does not know."""
    codes = [function.__code__] if name not in function.__globals__ else []
    for code in codes:
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
        for one in dis.get_instructions(code):
            if one.opname == "LOAD_GLOBAL" and one.argval == name and one.positions:
                yield code.co_filename, one.positions.lineno or 0


def prune(unused_days: float = 7) -> list[Path]:
    """Removes kernels that no process has used for so many days; returns their folders.

    The root is shared by all checkouts of a user, and a run elsewhere may need its kernels now: so
    age alone decides, never which kernels are ours. Nothing is removed but files with the names of
    ours and numba's, and folders that are empty then.
    """
    limit = time.time() - unused_days * 86400
    old = [
        f for f in _folders(ROOT, r".*-[0-9a-f]{8}") for f in _folders(f, r"kernels-[0-9a-f]{16}")
    ]
    old = [f for f in old if f.stat().st_mtime < limit]
    for unused in old:
        for place in [*_folders(unused, r".*"), unused]:  # numba has a folder for each of sources
            for file in place.iterdir():
                if _KEPT.fullmatch(file.name) and not file.is_dir():
                    file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else is in it
                place.rmdir()
    return [f for f in old if not f.exists()]


_KEPT = re.compile(r".+\.nb[ic](\.tmp\..*)?|compiled")
"""What lies in a kernels' folder."""


def _folders(base: Path, name: str) -> list[Path]:
    """Its folders of such a name; no links."""
    found = (f for f in base.iterdir() if re.fullmatch(name, f.name))
    return [f for f in found if f.is_dir() and not f.is_symlink()]
