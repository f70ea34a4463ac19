"""Where a picture or a table says it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping


def origin(provenance: Mapping[str, str]) -> str:
    """One ASCII line that says where a file comes from: JSON with sorted keys."""
    return json.dumps(dict(provenance), sort_keys=True)
