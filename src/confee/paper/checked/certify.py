"""Four ways to certify a step, none of which samples floating-point numbers.

- `identity`, `same_function`: exact simplification of a difference to 0.
- `nonnegative`: shift every variable to the lower end of its range; all coefficients are then >= 0.
- `at_most`: interval arithmetic with outward rounding and bisection on a compact box.
- `everywhere`: exhaustive enumeration of finitely many cases in whole numbers or fractions.

A certifier answers True only if it has a proof. False means "not proved", so a true statement that
a certifier cannot handle is rejected rather than accepted. sympy is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Shift = tuple[Any, Any]
"""(symbol, expression): replace the symbol by lower end + nonnegative symbol."""


def exact(value: Any) -> Any:
    """Return a fraction, whole number or sympy expression as an exact sympy expression.

    Raises
    ------
    TypeError
        For anything else, floating-point numbers in particular.
    """
    import sympy as sp

    if isinstance(value, Fraction | int):
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(value, sp.Expr) and not value.has(sp.Float):
        return value
    raise TypeError(f"steps are stated in exact numbers; {value!r} is not exact")


def identity(left: Any, right: Any) -> bool:
    """Return whether left - right simplifies to 0 exactly."""
    import sympy as sp

    difference = sp.powsimp(sp.powdenest(sp.expand(exact(left) - exact(right)), force=True))
    return sp.simplify(sp.expand(difference)) == 0


def same_function(left: Any, right: Any, x: Any, at: Any) -> bool:
    """Return whether left = right on an interval: equal derivatives, and equal values at `at`."""
    import sympy as sp

    rate = sp.simplify(sp.diff(left - right, x))
    return rate == 0 and identity(sp.limit(left, x, at), sp.limit(right, x, at))


def nonnegative(expression: Any, *cases: Sequence[Shift]) -> bool:
    """Return whether a rational function is nonnegative in each case.

    A case is a list of shifts, applied in order. After them every symbol is nonnegative, and the
    expression must be a quotient of polynomials whose coefficients are all nonnegative.
    """
    import sympy as sp

    for shifts in cases or ((),):
        shifted = exact(expression)
        for symbol, by in shifts:
            shifted = shifted.subs(symbol, exact(by))
        top, bottom = sp.fraction(sp.together(shifted))
        free = sorted(shifted.free_symbols, key=str)
        for part in (top, bottom):
            coefficients = sp.Poly(part, *free).coeffs() if free else [part]
            if not all(c.is_nonnegative for c in coefficients):
                return False
        if bottom == 0:
            return False
    return True


# ------------------------------------------------------------------ intervals


def enclose(expression: Any, box: Mapping[Any, Any]) -> Any:
    """Return an interval that holds the values of `expression` on a box of intervals."""
    import sympy as sp
    from mpmath import iv

    if expression in box:
        return box[expression]
    if expression.is_Rational:
        return iv.mpf(int(expression.p)) / iv.mpf(int(expression.q))
    if expression is sp.E:
        return iv.e
    parts = [enclose(part, box) for part in expression.args]
    if expression.is_Add:
        return sum(parts[1:], parts[0])
    if expression.is_Mul:
        product = parts[0]
        for part in parts[1:]:
            product = product * part
        return product
    if expression.is_Pow:
        power = expression.exp
        if power.is_Integer:
            return parts[0] ** int(power)
        return iv.exp(parts[1] * iv.log(parts[0]))
    if isinstance(expression, sp.log):
        return iv.log(parts[0])
    if isinstance(expression, sp.exp):
        return iv.exp(parts[0])
    raise TypeError(f"no interval for {expression}")


def at_most(left: Any, right: Any, box: Mapping[Any, tuple[Any, Any]] | None = None) -> bool:
    """Return whether left <= right on a compact box, by interval arithmetic and bisection.

    Each side of the box is halved up to 12 times where the enclosure does not decide. A statement
    that holds with equality somewhere cannot be decided, and is rejected.
    """
    from mpmath import iv

    gap = exact(right) - exact(left)

    def proved(sides: dict[Any, tuple[Fraction, Fraction]], depth: int) -> bool:
        boxes = {
            symbol: iv.mpf([_interval(low).a, _interval(high).b])
            for symbol, (low, high) in sides.items()
        }
        value = enclose(gap, boxes)
        if value.a >= 0:
            return True
        if value.b < 0 or depth == 0 or not sides:
            return False
        widest = max(sides, key=lambda symbol: sides[symbol][1] - sides[symbol][0])
        low, high = sides[widest]
        middle = (low + high) / 2
        return proved({**sides, widest: (low, middle)}, depth - 1) and proved(
            {**sides, widest: (middle, high)}, depth - 1
        )

    whole = {symbol: (Fraction(a), Fraction(b)) for symbol, (a, b) in (box or {}).items()}
    return proved(whole, 12 * max(1, len(whole)))


def _interval(value: Fraction) -> Any:
    from mpmath import iv

    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


# ------------------------------------------------------------------ enumeration


def everywhere(cases: Iterable[Any], holds: Callable[..., bool]) -> bool:
    """Return whether `holds(*case)` for all cases; False if there is no case."""
    count = 0
    for case in cases:
        if not holds(*case):
            return False
        count += 1
    return count > 0


def somewhere(cases: Iterable[Any], holds: Callable[..., bool]) -> bool:
    """Return whether `holds(*case)` for at least one case."""
    return any(holds(*case) for case in cases)
