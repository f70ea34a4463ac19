"""The error raised for invalid user input, and text that is safe to print."""

from __future__ import annotations


class ConfeeError(Exception):
    """Raised for invalid user input.

    Its text is the one line shown to the user: the key, the value and the allowed range.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """Return `text` in one line, made `harmless`."""
    return harmless(" ".join(text.split()))


def harmless(text: str) -> str:
    """Return `text` with unprintable characters escaped, so that none controls the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
