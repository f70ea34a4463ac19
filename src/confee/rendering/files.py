"""Figures as files: PDF, PNG and SVG that say where they come from; equal figures, equal bytes."""

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
    """One ASCII line that says where a file comes from: JSON with sorted keys."""
    return json.dumps(dict(provenance), sort_keys=True)


def save(fig: Figure, path: str | Path, provenance: Mapping[str, str]) -> None:
    """Write PDF, PNG or SVG (by suffix), whole or not at all; equal figures give equal bytes.

    `provenance` should hold `data` (the hash of what was drawn) and `command` (what remakes it);
    it is kept in the file: `provenance(path)` reads it back. Raises ConfeeError on another suffix.
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
    # A copy: laying a figure out moves it a little, and its second file would show that.
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
    """An SVG whose clip paths are numbered: matplotlib names them after places in memory."""
    names = dict.fromkeys(re.findall(r'<clipPath id="(p[0-9a-f]{10})"', svg))
    numbers = {name: f"clip{i}" for i, name in enumerate(names)}
    return re.sub(r"\bp[0-9a-f]{10}\b", lambda found: numbers.get(found[0], found[0]), svg)


def _small_png(fig: Figure, part: Path, metadata: Mapping[str, str]) -> None:
    """A PNG of 128 colours, a third of the size: what figures show is lines, text, flat colours."""
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
    """The JSON line that `save` put into a file; empty where there is none."""
    data = Path(path).read_bytes()
    if data.startswith(b"%PDF"):
        found = re.search(rb"/Keywords \(((?:\\.|[^\\)])*)\)", data, re.DOTALL)
        return re.sub(rb"\\(.)", rb"\1", found[1], flags=re.DOTALL).decode() if found else ""
    if data.startswith(b"<?xml"):
        found = re.search(rb"<dc:description>(.*?)</dc:description>", data, re.DOTALL)
        return html.unescape(found[1].decode()) if found else ""
    place = data.find(b"tEXtconfee\0")
    if place < 0:
        return ""
    length = int.from_bytes(data[place - 4 : place])
    return data[place + 4 : place + 4 + length].partition(b"\0")[2].decode()
