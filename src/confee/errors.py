"""The one kind of error that is the user's to mend."""

from __future__ import annotations


class ConfeeError(Exception):
    """Bad input. Its text is the single line shown: the key, the value, the allowed range."""

    def __str__(self) -> str:
        return " ".join(super().__str__().split())
