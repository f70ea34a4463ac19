"""What figures and tables declare about themselves, and the catalogue of them all."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

VERDICTS = "Claims"
WHO = "Which policy to use"
BASICS = "Regret against each axis"
WHY = "Where the regret comes from"
MEANS = "How the policies work"
BEYOND = "Beyond arms"

SECTIONS = (VERDICTS, WHO, BASICS, WHY, MEANS, BEYOND)
"""The sections of the report, in order."""

LAST = 100
"""The place of what declares none."""

DECLARED = re.compile(r'\b(?:Figure|Table)\(\s*"([\w-]+)"')
"""A declaration in the text of a module: its name comes first and is written out."""


@dataclass(frozen=True)
class Exhibit:
    """What figures and tables have in common.

    Parameters
    ----------
    name, title
        The name is that of its files; the title is shown in the report.
    finding
        Returns what the data show, in one or two sentences with numbers computed from them.
    reading
        How to read it; formulas stand between dollars.
    section, place
        Where the report shows it: one of SECTIONS, and the place in there.
    needs
        Attributes of the data that its functions take, by these names.
    own
        Further arguments of its functions -> the function that makes them: what it shows of the
        code itself, without any results.
    fixed
        Further arguments of its functions whose values are constants.
    axes
        What an experiment must have for it, all of these for a figure and one of them for a table:
        an axis of the grid, a map, `ray:<variable>` (a ray along B, V, K or T), `study:<name>`,
        `asked:<first word of a claim's id>`, `label:<label of a policy>`, or `claims` if any are
        judged.
    maps
        The maps that it shows: where a workflow names its claims, they are played if it is named.
    claims
        Ids of claims, or their first words, that it is evidence for.
    """

    name: str
    title: str
    _: KW_ONLY
    finding: Callable[..., str]
    reading: str
    section: str
    place: int = LAST
    needs: tuple[str, ...] = ()
    own: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    axes: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()

    @property
    def shows_results(self) -> bool:
        """Whether it is made from the results of an experiment; else it shows the code alone."""
        return bool(self.needs)

    @property
    def shows_verdicts(self) -> bool:
        return "claims" in self.needs

    @property
    def sources(self) -> tuple[str, ...]:
        """The arguments of its functions that are data, not constants."""
        return (*self.needs, *self.own)

    def arguments(self, data: Any) -> dict[str, Any]:
        """Return the arguments of its functions; `data` has the attributes that it needs."""
        needed = {need: getattr(data, need) for need in self.needs}
        return needed | {name: make() for name, make in self.own.items()} | dict(self.fixed)

    def caption(self, arguments: Mapping[str, Any]) -> str:
        """Return what it shows and how to read it: text with formulas between dollars."""
        return f"{self.finding(**arguments)} {self.reading}"


@dataclass(frozen=True, kw_only=True)
class Figure(Exhibit):
    """A figure: `draw` returns it from the same arguments as `finding` takes.

    A figure that is `named` is drawn only where an experiment names it: another one shows the same.
    """

    draw: Callable[..., Drawing]
    named: bool = False


@dataclass(frozen=True, kw_only=True)
class Table(Exhibit):
    """A table: `make` returns a frame of text from the same arguments as `finding` takes."""

    make: Callable[..., pd.DataFrame]


T = TypeVar("T", bound=Exhibit)


class Catalogue(Mapping[str, T], Generic[T]):
    """Name -> what a module of `package`, in `folder`, declares as FIGURE, FIGURES or TABLE.

    `names` are read from the text of the modules. A module is imported when one of its names is
    asked for, and all of them are to iterate in the order of the report.
    """

    def __init__(self, package: str, folder: Path) -> None:
        self._package, self._folder = package, folder

    @cached_property
    def _modules(self) -> dict[str, str]:
        return {
            name: f"{self._package}.{file.stem}"
            for file in sorted(self._folder.glob("*.py"))
            for name in DECLARED.findall(file.read_text(encoding="utf-8"))
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the modules; nothing is imported."""
        return tuple(self._modules)

    def module(self, name: str) -> str:
        """Return the name of the module that declares `name`."""
        return self._modules[name]

    def __getitem__(self, name: str) -> T:
        module = importlib.import_module(self._modules[name])
        declared = [getattr(module, word, ()) for word in ("FIGURE", "FIGURES", "TABLE")]
        exhibits = [e for part in declared for e in (part if isinstance(part, tuple) else (part,))]
        return next(exhibit for exhibit in exhibits if exhibit.name == name)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._ordered)

    def __len__(self) -> int:
        return len(self._modules)

    @cached_property
    def _ordered(self) -> list[str]:
        def place(name: str) -> tuple[int, int, str]:
            exhibit = self[name]
            return SECTIONS.index(exhibit.section), exhibit.place, name

        return sorted(self._modules, key=place)
