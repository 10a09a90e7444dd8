"""Values of a comparison as people read them: times in µs, changes with their sign."""

from __future__ import annotations

from base.microseconds import digits, unit_read
from base.microseconds import signed as signed_time

_MINUS = "\N{MINUS SIGN}"


def short(value: float, unit: str) -> str:
    """A value of this unit, times in µs; others whole: a fraction says less than the budgets."""
    return digits(value) if unit == "ns" else f"{value:,.0f}".replace("-", _MINUS)


def spaced(unit: str) -> str:
    """The unit of what `short` gives, after a space; empty for none."""
    return f" {unit_read(unit)}" if unit else ""


def signed(value: float, unit: str) -> str:
    """A change with its sign."""
    if unit == "ns":
        return signed_time(value)
    text = f"{value:+,.0f}" if float(value).is_integer() or abs(value) >= 10 else f"{value:+,.1f}"
    return text.replace("-", _MINUS)
