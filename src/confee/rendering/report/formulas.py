"""Text with formulas between dollars, as HTML with MathML.

A formula is LaTeX as captions and tables have it; `O~` is the soft O, `\\$` a dollar.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET

from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape

from confee.rendering.words import FORMULA

POWER = re.compile(r"(\b[A-Za-z]\w*|\b\d+|\([^()]*\))\^(?:\(([^()]+)\)|([-+]?[\d.]*\d))")
"""Verdicts, which are for terminals too, write K^(1/3) and B^-0.2."""

NAMED = re.compile(r"\b(?:ln|log|exp)\b")

TYPED = ((re.compile(r"(?<!\w)-(?=[\d.])"), "\N{MINUS SIGN}"), (re.compile("<="), "≤"),
         (re.compile(">="), "≥"), (re.compile(r"\+-(?= )"), "±"))  # fmt: skip

KEPT = {"stretchy", "mathvariant", "accent", "linethickness", "width", "height"}
"""Attributes of MathML that only say how a formula looks."""


def marked(text: str) -> Markup:
    """Text as HTML: formulas and powers as MathML, all else escaped, with signs as they are set."""
    parts = FORMULA.split(text)
    return Markup("").join(mathml(p) if i % 2 else _words(p) for i, p in enumerate(parts))


def _words(text: str) -> Markup:
    """What stands between formulas."""
    base, inner, number = 1, 2, 3
    parts = POWER.split(text.replace(r"\$", "$"))
    made = Markup("")
    for at in range(0, len(parts), 4):
        said = parts[at]
        for pattern, sign in TYPED:
            said = pattern.sub(sign, said)
        made += escape(said)
        if at + number < len(parts):
            power = parts[at + inner] or parts[at + number]
            made += mathml(NAMED.sub(r"\\\g<0> ", parts[at + base]) + f"^{{{power}}}")
    return made


def mathml(formula: str) -> Markup:
    """One formula; as it is written if it is none."""
    try:
        root = convert_to_element(formula.replace("O~", r"\tilde{O}"))
    except Exception:  # the library's errors have no class in common
        return Markup("<code>{}</code>").format(formula)
    # Not the library's own text: that lets tags inside \text through.
    for element in root.iter():
        element.text = html.unescape(element.text) if element.text else None
        for name in set(element.attrib) - KEPT:
            del element.attrib[name]
        if element.text == "/":
            element.attrib |= {"lspace": "0", "rspace": "0"}
        if element.tag == "mi" and (element.text or "").isalpha() and len(element.text or "") > 1:
            element.set("class", "name")  # ln, max
    return Markup(ET.tostring(root, encoding="unicode"))
