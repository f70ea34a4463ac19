"""The one kind of error that is the user's to mend."""

from __future__ import annotations


class ConfeeError(Exception):
    """Bad input. Its text is the single line shown: the key, the value, the allowed range."""

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """`text` in one line, in which nothing steers a terminal: other than printable characters are
    spaces, or written as in Python."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
