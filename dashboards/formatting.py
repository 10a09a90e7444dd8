"""Numbers as people read them. A missing value is a dash, never a zero."""

from __future__ import annotations

MISSING = "–"


def number(value: float | None, unit: str) -> str:
    """A value of a quantity. Nanoseconds always have one decimal, so that a column lines up."""
    return f"{value:,.1f}" if value is not None and unit == "ns" else grouped(value)


def grouped(value: float | None) -> str:
    """A number with thousands separators; one decimal only where it says something."""
    if value is None:
        return MISSING
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}"


def microseconds(value_ns: float | None) -> str:
    """Nanoseconds in microseconds, with two decimals."""
    return MISSING if value_ns is None else f"{value_ns / 1000:,.2f} µs"


def samplerate(samplerate_hz: int) -> str:
    return f"{samplerate_hz / 1e6:g} MS/s" if samplerate_hz >= 1_000_000 else f"{samplerate_hz / 1e3:g} kS/s"
