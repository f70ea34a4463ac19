"""The columns that name a cell, in every frame of this package."""

from __future__ import annotations

from confee.core.size import Size

SIZE = list(Size._fields)
CELL = ["label", *SIZE]
