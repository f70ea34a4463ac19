"""Typed options with ranges, as dataclass fields that check values and describe themselves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from confee.core.errors import ConfeeError

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """What a field accepts: `allowed` in words; `read` returns the canonical value or raises
    ValueError."""

    allowed: str
    read: Callable[[Any], Any]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    try:
        finite = math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        finite = False
    if not finite:
        raise ValueError
    return value


def _bounds(low: float | None, high: float | None, above: float | None) -> str:
    if low is None and above is None and high is None:
        return ""
    left = f"({above:g}" if above is not None else "(-inf" if low is None else f"[{low:g}"
    return f" in {left}, {'inf)' if high is None else f'{high:g}]'}"


def _ranged(kind: str, whole: bool, low, high, above) -> Kind:
    def read(value: Any) -> int | float:
        number = _number(value)
        if whole and not float(number).is_integer():
            raise ValueError
        if (
            (low is not None and number < low)
            or (high is not None and number > high)
            or (above is not None and number <= above)
        ):
            raise ValueError
        return int(number) if float(number).is_integer() else float(number)

    return Kind(f"{kind}{_bounds(low, high, above)}", read)


def _field(kind: Kind, default: Any, about: str) -> Any:
    metadata = {"kind": kind, "about": about}
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def whole(default=dataclasses.MISSING, low=None, high=None, about: str = "") -> Any:
    """Return a field for a whole number in [low, high]; 1e4 is one. `about` describes it."""
    return _field(_ranged("a whole number", True, low, high, None), default, about)


def real(default=dataclasses.MISSING, low=None, high=None, above=None, about: str = "") -> Any:
    """Return a field for a finite number in [low, high] or in (above, high]."""
    return _field(_ranged("a number", False, low, high, above), default, about)


def choice(default: str, *values: str, about: str = "") -> Any:
    """Return a field for one of the words `values`."""

    def read(value: Any) -> str:
        if value not in values:
            raise ValueError
        return value

    return _field(Kind("one of " + ", ".join(values), read), default, about)


def flag(default: bool, about: str = "") -> Any:
    """Return a field for true or false."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    return _field(Kind("true or false", read), default, about)


def text(default=dataclasses.MISSING, pattern: str = "any text", about: str = "") -> Any:
    """Return a field for a text that can be printed; `pattern` describes it in errors."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value or not value.isprintable():
            raise ValueError
        return value

    return _field(Kind(pattern, read), default, about)


def check(field: dataclasses.Field, value: Any, where: str, word: str = "") -> Any:
    """Return the canonical value of a field, or `word` if that stands in its place.

    Raises ConfeeError with the key `where`, the value and the allowed range.
    """
    kind: Kind = field.metadata["kind"]
    if word and value == word:
        return word
    try:
        return kind.read(value)
    except (ValueError, TypeError):
        allowed = f"{kind.allowed}, or {word}" if word else kind.allowed
        raise ConfeeError(f"{where}={show(value)}: must be {allowed}") from None


def show(value: Any) -> str:
    """Return a value as error messages show it, at most 60 characters."""
    try:
        shown = " ".join(str(value).split())
    except ValueError:  # Python converts no whole number of thousands of digits.
        shown = "a whole number of thousands of digits"
    except RecursionError:
        shown = "something nested"
    return (shown or repr(value)) if len(shown) <= 60 else shown[:57] + "..."


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """Return `value` if it is a mapping with text keys; raise ConfeeError otherwise."""
    if not isinstance(value, Mapping):
        raise ConfeeError(f"{where}={show(value)}: must be a mapping")
    for key in value:
        if not isinstance(key, str):
            raise ConfeeError(f"{where}.{show(key)}: no such key; must be a word")
    return value


def build(cls: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """Return an instance of the dataclass `cls` made of `values`.

    Raises ConfeeError on an unknown or missing key, a wrong type, or a value out of range; `where`
    precedes the keys in its message.
    """
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    prefix = f"{where}." if where else ""
    for key in values:
        if key not in fields:
            known = ", ".join(fields) or "none"
            raise ConfeeError(
                f"{prefix}{show(key)}={show(values[key])}: no such key; known: {known}"
            )
    checked = {}
    for name, field in fields.items():
        if name in values:
            checked[name] = check(field, values[name], prefix + name)
        elif field.default is dataclasses.MISSING:
            raise ConfeeError(f"{prefix}{name}: missing; must be {field.metadata['kind'].allowed}")
    return cls(**checked)
