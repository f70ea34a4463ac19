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

NAMED = {re.compile(r"\b(ln|log|exp|rho)\b"): r"\\\1 ", re.compile(r"\beps\b"): r"\\varepsilon "}

TYPED = (
    (re.compile(r"(?<!\w)-(?=[\d.])"), "\N{MINUS SIGN}"),
    (re.compile("<="), "≤"),
    (re.compile(">="), "≥"),
    (re.compile(r"\+-(?= )"), "±"),
    (re.compile(r"\brho\^(?= )"), "ρ\N{COMBINING CIRCUMFLEX ACCENT}"),
    (re.compile(r"\brho\b"), "ρ"),
    (re.compile(r"\beps\b"), "ε"),
    (re.compile(r"\bsqrt\((\w)\)"), r"√\1"),
)

KEPT = {"stretchy", "mathvariant", "accent", "linethickness", "width", "height"}
"""Attributes of MathML that only say how a formula looks."""


def marked(text: str) -> Markup:
    """Return text as HTML: formulas and powers as MathML, all else escaped."""
    parts = FORMULA.split(text)
    return Markup("").join(mathml(p) if i % 2 else _words(p) for i, p in enumerate(parts))


def _words(text: str) -> Markup:
    """Return the text between formulas as HTML."""
    base, inner, number = 1, 2, 3
    parts = POWER.split(text.replace(r"\$", "$"))
    markup = Markup("")
    for at in range(0, len(parts), 4):
        words = parts[at]
        for pattern, sign in TYPED:
            words = pattern.sub(sign, words)
        markup += escape(words)
        if at + number < len(parts):
            power = parts[at + inner] or parts[at + number]
            formula = parts[at + base]
            for pattern, command in NAMED.items():
                formula = pattern.sub(command, formula)
            markup += mathml(f"{formula}^{{{power}}}")
    return markup


def mathml(formula: str) -> Markup:
    """Return a formula as MathML; as code if it cannot be parsed."""
    try:
        root = convert_to_element(formula.replace("O~", r"\tilde{O}"))
    except Exception:  # the library's errors have no class in common
        return Markup("<code>{}</code>").format(formula)
    # Not the library's own text: that lets tags inside \text through.
    for element in list(root.iter()):
        if element.tag == "msubsup":  # a browser sets what is above into what leans, as V does
            below = ET.Element("msub")
            below.extend(element[:2])
            element.tag, element[:] = "msup", [below, element[2]]
        element.text = html.unescape(element.text) if element.text else None
        for name in set(element.attrib) - KEPT:
            del element.attrib[name]
        if element.text == "/":
            element.attrib |= {"lspace": "0", "rspace": "0"}
        if element.tag == "mi" and (element.text or "").isalpha() and len(element.text or "") > 1:
            element.set("class", "name")  # ln, max
    return Markup(ET.tostring(root, encoding="unicode"))
