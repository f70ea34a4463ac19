"""Captions for what cannot set formulas: text with formulas between dollars as readable text."""

from __future__ import annotations

import re

RELATIONS = {
    "propto": "∝",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "lt": "<",
    "gt": ">",
    "ne": "≠",
    "neq": "≠",
    "approx": "≈",
    "sim": "~",
    "to": "→",
}
SIGNS = {
    "times": "×",
    "cdot": "·",
    "pm": "±",
    "infty": "∞",
    "prime": "′",
    "sqrt": "√",
    "sum": "Σ",
    "Omega": "Ω",
    "Delta": "Δ",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "varepsilon": "ε",
    "epsilon": "ε",
    "mu": "μ",
    "nu": "ν",
    "rho": "ρ",
    "tau": "τ",
    "sigma": "σ",
    "theta": "θ",
    "lambda": "λ",
    "pi": "π",
    "ell": "ℓ",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "dots": "…",
    "ldots": "…",
}
COMMANDS = {
    *RELATIONS,
    *SIGNS,
    "frac",
    "tilde",
    "hat",
    "bar",
    "mathrm",
    "mathcal",
    "text",
    "operatorname",
    "ln",
    "log",
    "exp",
    "min",
    "max",
    "sup",
    "inf",
    "emptyset",
    "surd",
    "left",
    "right",
    "bigl",
    "bigr",
    "Bigl",
    "Bigr",
    "not",
    "in",
    "quad",
}
"""All that formulas may say."""
FORMULA = re.compile(r"(?<!\\)\$((?:\\.|[^$\\])+)\$")
"""In a caption `\\$` is a dollar."""
FRACTION = re.compile(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
SHORT_FRACTION = re.compile(r"\\frac\s*(\w)\s*(\w)")
"""`\\frac12`, `\\frac BT`."""
SHORT_GROUP = re.compile(r"\\(tilde|hat|bar|mathrm|mathcal|mathbb|mathsf)\s+(\w)")
GROUP = re.compile(
    r"(\\(?:sqrt|tilde|hat|bar|math(?:rm|cal|bb|sf)|text|operatorname)|[\^_])\s*\{([^{}]*)\}"
)
BRACES = {r"\{": "\x01", r"\}": "\x02"}
"""Braces that are read, and what keeps their place."""
OPERATOR = re.compile(r"\\(ln|log|exp|min|max|sup|inf)(?=\\)")
GLUED = re.compile(r"(?<=[A-Za-z])\s*\\(ln|log|exp|min|max)(?![a-z])")
BARE = re.compile(r"\{([^{}]*)\}")
ACCENTS = {
    "\\tilde": "\N{COMBINING TILDE}",
    "\\hat": "\N{COMBINING CIRCUMFLEX ACCENT}",
    "\\bar": "\N{COMBINING MACRON}",
}
COMPOUND = re.compile(r"[-+*/−±·×∝ ]")


def plain(text: str) -> str:
    """The text with its formulas as a reader would type them: `T^{-1/3}` is T^(−1/3)."""
    return FORMULA.sub(lambda found: _typed(found[1]), text).replace(r"\$", "$")


def rst(text: str) -> str:
    """`plain` for reStructuredText, in which nothing of it is markup."""
    said = re.sub(r"([\\*`_|])", r"\\\1", plain(text))
    # What begins a line could still be a list, or a directive.
    return re.sub(r"(?m)^([ \t]*)(?=[^\s\\])", r"\1\\", said)


def _typed(formula: str) -> str:
    said = re.sub(r"\\[,;:! ]", " ", formula.replace("O~", r"\tilde{O}"))
    said = re.sub(r"\\(?:left|right|bigl|bigr|Bigl|Bigr)(?![a-z])", "", said)
    for brace, place in BRACES.items():
        said = said.replace(brace, place)
    said = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", said)
    said = re.sub(r"(?<=[\w}])\\frac", r" \\frac", said)
    said = SHORT_GROUP.sub(r"\\\1{\2}", said)
    said = GLUED.sub(r" \\\1", said)
    said = OPERATOR.sub(r"\1 ", said)
    before = ""
    while said != before:  # from the inside out
        before = said
        said = FRACTION.sub(_quotient, GROUP.sub(_group, said))
        if said == before:
            said = BARE.sub(r"\1", said)
    said = re.sub(r"\\([A-Za-z]+)( ?)", _sign, said)
    said = said.replace("\\", "").replace("-", "\N{MINUS SIGN}")
    said = said.replace("\x01", "{").replace("\x02", "}")
    return re.sub(r"\s+", " ", said).strip()


def _sign(found: re.Match[str]) -> str:
    name = found[1]
    return f" {RELATIONS[name]} " if name in RELATIONS else SIGNS.get(name, name + found[2])


def _quotient(found: re.Match[str]) -> str:
    return "/".join(f"({part})" if COMPOUND.search(part) else part for part in found.groups())


def _group(found: re.Match[str]) -> str:
    before, inside = found.groups()
    if before in ACCENTS:
        return inside + ACCENTS[before]
    if before in ("^", "_", "\\sqrt"):
        whole = not COMPOUND.search(inside) and (before != "\\sqrt" or len(inside) == 1)
        return (before if before != "\\sqrt" else "√") + (inside if whole else f"({inside})")
    return inside
