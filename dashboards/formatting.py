"""Numbers as people read them. A missing value is a dash, never a zero."""

from __future__ import annotations

from base.microseconds import digits
from base.microseconds import microseconds as in_microseconds

MISSING = "–"


def short(value: float | None, unit: str) -> str:
    """A value of a quantity as a table has it, without its unit: times in µs."""
    return digits(value) if value is not None and unit == "ns" else grouped(value)


def whole(value: float | None, unit: str) -> str:
    """A value with its unit and all that is known of it: `33,952.4 ns`, always with one decimal.
    Empty for none.
    """
    if value is None:
        return ""
    return f"{value:,.1f} ns" if unit == "ns" else f"{grouped(value)} {unit}".rstrip()


def grouped(value: float | None) -> str:
    """A number with thousands separators; one decimal only where it says something."""
    if value is None:
        return MISSING
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}"


def microseconds(value_ns: float | None) -> str:
    """A time with its unit: `33.95 µs`."""
    return MISSING if value_ns is None else in_microseconds(value_ns)


def samplerate(samplerate_hz: int) -> str:
    return f"{samplerate_hz / 1e6:g} MS/s" if samplerate_hz >= 1_000_000 else f"{samplerate_hz / 1e3:g} kS/s"


def spoken(name: str) -> str:
    """A run's name for a sentence: `tlsf with primask and heap 4,096`."""
    plain, bracket, doubt = name.partition(" (")
    words = plain.split(", ")
    if words[1:2] == ["from outside"]:
        words[:3] = [f"{words[0]} {words[2]} from outside"]
    end = len(words) - words[-1].startswith("imported from ")
    settings = words[1:end]
    listed = " and ".join([*([", ".join(settings[:-1])] if settings[1:] else []), *settings[-1:]])
    allocator = words[0] + (f" with {listed}" if settings else "")
    return ", ".join([allocator, *words[end:]]) + bracket + doubt
