"""The order of the files: two workers, to which they go one by one, are to end together.

Files that take long begin first. `make test` passes --no-loadscope-reorder, or pytest-xdist would
order files by how many tests they have.
"""

from __future__ import annotations

FIRST = ["snapshot", "workflow", "rendering", "docs", "report", "policies", "agreement", "plan"]
"""The first compiles all kernels that are not yet in the cache, beside files that need few."""


def pytest_collection_modifyitems(items):
    place = {f"test_{name}.py": at for at, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(FIRST)))
