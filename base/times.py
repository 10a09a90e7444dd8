"""Times as they are typed: `10us`, `1.5ms`, `2h`."""

from __future__ import annotations

import re

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_TIME = re.compile(rf"([0-9]{{1,15}}(?:\.[0-9]{{0,9}})?|\.[0-9]{{1,9}}) ?({'|'.join(_SECONDS)})")


def seconds_of(word: str) -> float:
    """The seconds of a time; 0 of what is none."""
    match = _TIME.fullmatch(word)
    return float(match[1]) * _SECONDS[match[2]] if match else 0.0
