"""Figures as PDF, PNG and SVG files with provenance; equal figures give equal bytes."""

from __future__ import annotations

import copy
import html
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee.core.errors import ConfeeError
from confee.simulation.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def origin(provenance: Mapping[str, str]) -> str:
    """Return the provenance of a file as one line of JSON with sorted keys."""
    return json.dumps(dict(provenance), sort_keys=True)


def save(fig: Figure, path: str | Path, provenance: Mapping[str, str]) -> None:
    """Write PDF, PNG or SVG (by suffix), whole or not at all; equal figures give equal bytes.

    `provenance` should hold `data` (the hash of what was drawn) and `command` (that draws it
    again). It is kept in the file: `provenance(path)` reads it back. Raises ConfeeError on another
    suffix.
    """
    from confee.rendering import style

    path = Path(path)
    text = origin(provenance)
    match path.suffix:
        case ".pdf":
            metadata: dict[str, Any] = {
                "CreationDate": None,
                "Title": path.stem,
                "Subject": provenance.get("command", ""),
                "Keywords": text,
            }
        case ".png":
            metadata = {"Title": path.stem, "confee": text}
        case ".svg":
            metadata = {"Date": None, "Creator": "confee", "Title": path.stem, "Description": text}
        case other:
            known = ".pdf, .png or .svg"
            raise ConfeeError(f"{path}: a figure is saved as {known}, not {other or 'bare'}")
    style.check_font()
    # Saving lays a figure out and moves it slightly, so each file is saved from a copy.
    copied = copy.deepcopy(fig)

    def write(part: Path) -> None:
        with style.applied():
            if path.suffix == ".png":
                _small_png(copied, part, metadata)
            elif path.suffix == ".svg":
                drawn = io.StringIO()
                copied.savefig(drawn, format="svg", metadata=metadata)
                part.write_text(_numbered(drawn.getvalue()), encoding="utf-8")
            else:
                copied.savefig(part, format=path.suffix[1:], metadata=metadata)

    write_whole(path, write)


def _numbered(svg: str) -> str:
    """Return the SVG with numbered clip paths: matplotlib names them after memory addresses."""
    names = dict.fromkeys(re.findall(r'<clipPath id="(p[0-9a-f]{10})"', svg))
    numbers = {name: f"clip{i}" for i, name in enumerate(names)}
    return re.sub(r"\bp[0-9a-f]{10}\b", lambda match: numbers.get(match[0], match[0]), svg)


def _small_png(fig: Figure, part: Path, metadata: Mapping[str, str]) -> None:
    """Save a PNG of 128 colours, a third of the size: figures have lines, text and flat colours."""
    from PIL import Image, PngImagePlugin

    drawn = io.BytesIO()
    fig.savefig(drawn, format="png")
    info = PngImagePlugin.PngInfo()
    for key, value in metadata.items():
        info.add_text(key, value)
    image = Image.open(drawn)
    small = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(part, format="png", optimize=True, pnginfo=info, dpi=image.info["dpi"])


def provenance(path: str | Path) -> str:
    """Return the provenance that `save` wrote into a file; empty if there is none."""
    data = Path(path).read_bytes()
    if data.startswith(b"%PDF"):
        match = re.search(rb"/Keywords \(((?:\\.|[^\\)])*)\)", data, re.DOTALL)
        return re.sub(rb"\\(.)", rb"\1", match[1], flags=re.DOTALL).decode() if match else ""
    if data.startswith(b"<?xml"):
        match = re.search(rb"<dc:description>(.*?)</dc:description>", data, re.DOTALL)
        return html.unescape(match[1].decode()) if match else ""
    place = data.find(b"tEXtconfee\0")
    if place < 0:
        return ""
    length = int.from_bytes(data[place - 4 : place])
    return data[place + 4 : place + 4 + length].partition(b"\0")[2].decode()
