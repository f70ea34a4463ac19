"""Captions as plain text, for programs that cannot typeset the formulas between dollars."""

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
"""All commands that a formula may use."""
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
"""Braces that are shown, and their placeholders."""
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
    """Return the text with its formulas as a reader would type them: `T^{-1/3}` is T^(−1/3)."""
    return FORMULA.sub(lambda match: _typed(match[1]), text).replace(r"\$", "$")


def rst(text: str) -> str:
    """Return `plain` text escaped for reStructuredText."""
    escaped = re.sub(r"([\\*`_|])", r"\\\1", plain(text))
    # The beginning of a line could still be read as a list or a directive.
    return re.sub(r"(?m)^([ \t]*)(?=[^\s\\])", r"\1\\", escaped)


def _typed(formula: str) -> str:
    typed = re.sub(r"\\[,;:! ]", " ", formula.replace("O~", r"\tilde{O}"))
    typed = re.sub(r"\\(?:left|right|bigl|bigr|Bigl|Bigr)(?![a-z])", "", typed)
    for brace, place in BRACES.items():
        typed = typed.replace(brace, place)
    typed = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", typed)
    typed = re.sub(r"(?<=[\w}])\\frac", r" \\frac", typed)
    typed = SHORT_GROUP.sub(r"\\\1{\2}", typed)
    typed = GLUED.sub(r" \\\1", typed)
    typed = OPERATOR.sub(r"\1 ", typed)
    before = ""
    while typed != before:  # from the inside out
        before = typed
        typed = FRACTION.sub(_quotient, GROUP.sub(_group, typed))
        if typed == before:
            typed = BARE.sub(r"\1", typed)
    typed = re.sub(r"\\([A-Za-z]+)( ?)", _sign, typed)
    typed = typed.replace("\\", "").replace("-", "\N{MINUS SIGN}")
    typed = typed.replace("\x01", "{").replace("\x02", "}")
    return re.sub(r"\s+", " ", typed).strip()


def _sign(match: re.Match[str]) -> str:
    name = match[1]
    return f" {RELATIONS[name]} " if name in RELATIONS else SIGNS.get(name, name + match[2])


def _quotient(match: re.Match[str]) -> str:
    return "/".join(f"({part})" if COMPOUND.search(part) else part for part in match.groups())


def _group(match: re.Match[str]) -> str:
    before, inside = match.groups()
    if before in ACCENTS:
        return inside + ACCENTS[before]
    if before in ("^", "_", "\\sqrt"):
        whole = not COMPOUND.search(inside) and (before != "\\sqrt" or len(inside) == 1)
        return (before if before != "\\sqrt" else "√") + (inside if whole else f"({inside})")
    return inside
