"""numba with a cache folder for each module, named by a hash of all that is compiled into it.

numba's own cache notices edits of a function's own file only: a cached kernel that calls an edited
helper in another file would run the old code. So every version of a module and of its imports has
its own folder, and an edit recompiles what depends on it and nothing else.

`CONFEE_CACHE` names the root; by default it is the user's cache folder, or a temporary folder where
that cannot be written. Each kind of CPU has its own folders below the root, so that on the shared
disk of a cluster no CPU writes where another one reads: numba numbers its files without a lock.
The cache holds code, as numba pickles compiled functions: whoever can write to it can run programs.
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
from confee.core.sources import code_hash, is_own, source_file
from confee.core.startup import without

with without("scipy"):  # numba imports scipy only to check its version.
    import numba
    from numba.core import caching
    from numba.extending import intrinsic, overload


def _root() -> Path:
    """Return the root of the cache. Raises ConfeeError if CONFEE_CACHE cannot be resolved."""
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
    """Return the kind of CPU that numba compiles for, as its cache distinguishes them."""
    name = numba.config.CPU_NAME or binding.get_host_cpu_name()  # type: ignore[attr-defined]
    features = numba.config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return f"{name}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"


def _ours(folder: Path) -> bool:
    """Return whether a folder is this user's, no link, and not writable by everybody.

    Its name can be guessed, so another user may have put kernels there. Its group loses the right
    to write.
    """
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return False
    if status.st_mode & stat.S_IWOTH:
        return False
    if status.st_mode & stat.S_IWGRP:
        folder.chmod(stat.S_IMODE(status.st_mode) & ~stat.S_IWGRP)
    return True


ROOT = _root()
HERE = ROOT / _cpu()
HERE.mkdir(exist_ok=True)
# numba reads the variable on import and again whenever the environment changes, so both are set.
os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = str(ROOT)  # type: ignore[attr-defined]


def prepare() -> None:
    """Import what numba imports at the first call of a kernel, except scipy.linalg (0.3 CPU s).

    numba only checks that scipy.linalg exists; a kernel with linear algebra imports it itself.
    """
    with without("scipy", "scipy.linalg"):
        from numba.np import arraymath
    arraymath._HAVE_BLAS = True


@functools.cache
def folder(module: str) -> Path:
    """Return the cache folder of a module of confee or of the plugin folder."""
    path = HERE / f"kernels-{code_hash([module])}"
    if is_own(module):
        from confee.core import following

        following.compiled(module)
    path.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # The folder may be another user's.
        os.utime(path)  # Its date is that of its last use, see `prune`.
    return path


def njit(function: Callable[..., Any], **more: Any) -> Any:
    """Decorate a kernel: compiled without Python objects and cached in its module's folder.

    x / 0.0 is as in numpy. A function from elsewhere (a test, a notebook) is compiled in each
    process.
    """
    _functions.append(function)
    cached = source_file(function.__module__) is not None
    if cached:  # numba reads the folder when it creates the cache of a function.
        numba.config.CACHE_DIR = str(folder(function.__module__))  # type: ignore[attr-defined]
    more = {"_nrt": True, **more}  # Otherwise a callee inherits it from its first caller.
    kernel = numba.njit(cache=cached, error_model="numpy", **more)(function)
    if cached and not disabled():
        kernel._cache._cache_file.__class__ = _Sealed
    return kernel


class _Sealed(caching.IndexDataCacheFile):
    """numba's cache files of a kernel, each of which ends with a hash of the rest.

    numba unpickles and runs these files, so a damaged one is not read but compiled again.
    """

    def _load_index(self):
        return super()._load_index() if _whole(self._index_path) else {}

    def _load_data(self, name):
        if not _whole(self._data_path(name)):
            raise FileNotFoundError(name)  # numba then compiles.
        return super()._load_data(name)

    @contextlib.contextmanager
    def _open_for_write(self, filepath):
        buffer = io.BytesIO()
        yield buffer
        data = buffer.getvalue()
        with super()._open_for_write(filepath) as file:
            file.write(data + hashlib.sha256(data).digest())


def _whole(path: str) -> bool:
    """Return whether a file ends with the hash of the rest."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return False
    return data[-32:] == hashlib.sha256(data[:-32]).digest()


_functions: list[Callable[..., Any]] = []
"""Functions given to `njit`."""


def disabled() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set, so that kernels are Python functions."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def python_function(kernel: Any) -> Any:
    """Return the Python function of a kernel; None if `kernel` is not one."""
    return kernel if disabled() else getattr(kernel, "py_func", None)


def over(kernel: Any, module: str, **names: Callable[..., Any]) -> Any:
    """Return `kernel` with functions that it calls replaced, by name.

    The result is compiled for `module` and cached with it, so an edit of either side compiles it
    again. So a policy is written once, in plain calls, for every base algorithm and game. Functions
    passed as arguments would make each call slower and could not be cached.
    """
    origin = python_function(kernel)
    if origin is None:
        raise ConfeeError(f"{module}: over must be given a kernel that @njit compiled")
    function = types.FunctionType(origin.__code__, {**origin.__globals__, **names}, origin.__name__)
    function.__module__, function.__doc__ = module, origin.__doc__
    # numba's cache distinguishes kernels by file, name and bytecode, not by what they call.
    key = module, origin.__module__, origin.__qualname__
    _times[key] += 1
    function.__qualname__ = origin.__qualname__ + (f"_{_times[key]}" if _times[key] > 1 else "")
    return njit(function)


_times: Counter[tuple[str, str, str]] = Counter()
"""(module, kernel) -> number of calls of `over`, whose order the source fixes."""


def leaf(function: Callable[..., Any], **more: Any) -> Any:
    """Decorate a kernel that neither makes nor returns an array, as the steps of a round.

    numba counts references to the arrays of a function, with an atomic instruction of some 5 ns
    each; in a leaf it does not. An array returned by a leaf would be freed too early, so such a
    leaf is refused when it is compiled.
    """
    kernel = njit(function, _nrt=False, **more)
    if disabled():
        return kernel
    compiled = kernel.compile

    def checked(signature: Any) -> Any:
        entry = compiled(signature)
        for overloaded in kernel.overloads.values():
            if "array(" in str(overloaded.signature.return_type).lower():
                raise ConfeeError(f"{function.__name__}: a leaf must return no array")
        return entry

    kernel.compile = checked
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Decorate a leaf that is pasted into its callers: passing four arrays costs some 10 ns."""
    return leaf(function, forceinline=True)


def larger(this, that):
    """Return the larger of two doubles that are not NaN, in one instruction.

    For `x = y if y > x else x`, where x is an array's entry, LLVM makes a masked store, which takes
    AMD some twenty instructions.
    """
    return max(this, that)


def _largest(_, this, that):
    def generate(context, builder, signature, arguments):
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        maximum = builder.module.declare_intrinsic("llvm.maxnum", [double], kind)
        return builder.call(maximum, arguments, fastmath=("nnan",))

    return numba.types.float64(numba.types.float64, numba.types.float64), generate


_maxnum: Any = intrinsic(_largest)


@overload(larger)
def _larger(this, that):
    return lambda this, that: _maxnum(this, that)


def is_numbas(error: BaseException) -> bool:
    """Return whether an error is numba's: a kernel does not compile."""
    return type(error).__module__.startswith("numba.")


def reason(error: BaseException) -> str:
    """Return a numba error in one line, `<file>: line <n>: <reason>`; else its type and text."""
    if not is_numbas(error):
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    skipped = ("Failed in", "File ", "- Resolution")
    reasons = [line for line in lines if not line.startswith(skipped)]
    first = [*reasons, *lines, ""][0]
    if first.endswith("found for signature:"):  # The signature stands below.
        below = (line.removeprefix(">>> ") for line in reasons if line.startswith(">>> "))
        first = f"there is no {next(below, first)}"
    places = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    if unknown := re.search(r"NameError: name '(\w+)'", first):  # numba does not say where.
        used = {use for function in _functions for use in _uses(unknown[1], function)}
        places = sorted(used) if len(used) == 1 else places
    return (f"{places[-1][0]}: line {places[-1][1]}: " if places else "") + first


def _uses(name: str, function: Callable[..., Any]) -> Iterator[tuple[str, int]]:
    """Yield file and line wherever a kernel uses a name that its module does not define."""
    codes = [function.__code__] if name not in function.__globals__ else []
    for code in codes:
        codes += [nested for nested in code.co_consts if isinstance(nested, types.CodeType)]
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL" and step.argval == name and step.positions:
                yield code.co_filename, step.positions.lineno or 0


def prune(unused_days: float = 7) -> list[Path]:
    """Remove kernels that no process has used for so many days, and return their folders.

    All checkouts of a user share the root, and another one may need its kernels now, so age alone
    decides. Only files named as ours and numba's are removed, and folders that are empty then.
    """
    limit = time.time() - unused_days * 86400
    old = [
        f for f in _folders(ROOT, r".*-[0-9a-f]{8}") for f in _folders(f, r"kernels-[0-9a-f]{16}")
    ]
    old = [f for f in old if f.stat().st_mtime < limit]
    for unused in old:
        for place in [*_folders(unused, r".*"), unused]:  # numba has one for each source folder.
            for file in place.iterdir():
                if _KEPT.fullmatch(file.name) and not file.is_dir():
                    file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # Another file is in it.
                place.rmdir()
    return [f for f in old if not f.exists()]


_KEPT = re.compile(r".+\.nb[ic](\.tmp\..*)?|compiled")
"""Names of files in a folder of kernels."""


def _folders(base: Path, name: str) -> list[Path]:
    """Return the folders in `base`, without links, whose name matches the pattern `name`."""
    matching = (f for f in base.iterdir() if re.fullmatch(name, f.name))
    return [f for f in matching if f.is_dir() and not f.is_symlink()]
