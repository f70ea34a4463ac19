"""The one kind of error that is the user's to mend."""

from __future__ import annotations


class ConfeeError(Exception):
    """Bad input. Its text is the single line shown: the key, the value, the allowed range."""

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """`text` in one line that is `harmless`."""
    return harmless(" ".join(text.split()))


def harmless(text: str) -> str:
    """`text` so that nothing steers a terminal: what is not printable is written as in Python."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
