"""Times as people read them: one unit everywhere, µs. Files, exports and hovering keep ns. And
times as they are typed: `10us`, `1.5ms`, `2h`.
"""

from __future__ import annotations

import re

UNIT = "µs"
DECIMALS = 2
_ROUNDED_NS, _LEAST_NS = 5.0, 0.05
_MINUS = "−"


def decimals_of(resolution_ns: float) -> int:
    """As many as tell a sample of `resolution_ns` to a twentieth, two at the least: 3 of 5 ns."""
    sample_us = resolution_ns / 1000
    return next(
        count for count in range(DECIMALS, 18) if abs(round(sample_us, count) - sample_us) <= sample_us / 20
    )


def digits(value_ns: float, decimals: int | None = None) -> str:
    """The number of µs, with two decimals or so many: `33.95` of 33,952.4 ns.

    What two decimals would round to nothing keeps its first digit: `0.004`. Zero is `0.00`, and so
    is what rounds to no tenth of a nanosecond.
    """
    if decimals is not None:
        return f"{value_ns / 1000:,.{decimals}f}"
    if _LEAST_NS <= abs(value_ns) < _ROUNDED_NS:
        return f"{float(f'{value_ns / 1000:.1g}'):.12f}".rstrip("0")
    return f"{value_ns / 1000:,.{DECIMALS}f}"


def microseconds(value_ns: float, decimals: int | None = None) -> str:
    """The same with its unit: `33.95 µs`."""
    return f"{digits(value_ns, decimals)} {UNIT}"


def signed(value_ns: float) -> str:
    """A change, with its sign and without its unit: `−0.88`."""
    sign = "+" if value_ns > 0 else _MINUS if value_ns < 0 else ""
    return f"{sign}{digits(abs(value_ns))}"


def unit_read(unit: str) -> str:
    """The unit in which a value of this unit is read: µs for ns."""
    return UNIT if unit == "ns" else unit


def with_unit(words: str, unit: str) -> str:
    """`interrupt latency (µs)` of ns; of what has no unit only the words."""
    return f"{words} ({unit_read(unit)})" if unit else words


_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_TIME = re.compile(rf"([0-9]{{1,15}}(?:\.[0-9]{{0,9}})?|\.[0-9]{{1,9}}) ?({'|'.join(_SECONDS)})")


def seconds_of(word: str) -> float:
    """The seconds of a time; 0 of what is none."""
    match = _TIME.fullmatch(word)
    return float(match[1]) * _SECONDS[match[2]] if match else 0.0
