"""The files of an experiment's figures and tables."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee.config import reproduce
from confee.core.canonical import digest
from confee.rendering import exhibit
from confee.rendering.catalogue import Table
from confee.simulation import files
from confee.workflow import results
from confee.workflow.frames import Frames

if TYPE_CHECKING:
    import pandas as pd


def draw(plan: Mapping[str, Any], name: str, targets: Sequence[str]) -> list[Path]:
    """Write a figure or table of an experiment to each of `targets`, in the format of its suffix.

    The file with suffix .txt is its caption. Raises ConfeeError on an unknown name.
    """
    shown = exhibit(name)
    arguments = shown.arguments(Frames(plan))
    paths = [Path(target) for target in targets]
    suffix = "csv" if isinstance(shown, Table) else "pdf"
    experiment = results.folder(plan).name
    provenance = {
        "data": fingerprint(arguments),
        "command": reproduce.snakemake(plan["overrides"], f"figures/{experiment}/{name}.{suffix}"),
    }
    caption = shown.caption(arguments)
    for path in paths:
        if path.suffix == ".txt":
            files.write_text(path, caption + "\n")
    pictures = [path for path in paths if path.suffix != ".txt"]
    if isinstance(shown, Table):
        from confee.rendering.tables.write import save as save_table

        sheet = shown.make(**arguments)
        for path in pictures:
            save_table(sheet, path, provenance, caption, f"tab:{name}")
        return paths
    from confee.rendering.files import save

    picture = shown.draw(**arguments)
    for path in pictures:
        save(picture, path, provenance)
    return paths


def bind(plan: Mapping[str, Any], target: str) -> list[Path]:
    """Write the LaTeX file that includes all figures and tables of an experiment."""
    from confee.rendering.album import album

    file = Path(target)
    captions = {
        name: file.with_name(f"{name}.txt").read_text(encoding="utf-8").strip()
        for name in plan["pictures"]
    }
    provenance = {
        "data": digest(captions),
        "command": reproduce.snakemake(plan["overrides"], file.as_posix()),
    }
    files.write_text(file, album(captions, provenance))
    return [file]


def fingerprint(arguments: Mapping[str, Any]) -> str:
    """Return a hash of all that is drawn: of frames the names of columns and every value."""
    import pandas as pd

    parts: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, pd.DataFrame):
            rows = pd.util.hash_pandas_object(value.astype({c: str for c in _mixed(value)}), False)
            rows_hash = hashlib.sha256(rows.to_numpy().tobytes()).hexdigest()
            value = [list(map(str, value.columns)), rows_hash]
        parts[name] = value
    return digest(parts)


def _mixed(frame: pd.DataFrame) -> list[str]:
    """Return the columns of lists and mappings, which pandas cannot hash."""
    return [c for c in frame if any(isinstance(v, dict | list | tuple) for v in frame[c])]
