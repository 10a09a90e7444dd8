"""Live bytes and blocks of a stored trace, held against a model of the heap's format."""

from __future__ import annotations

from base.paths import ROOT
from studies.reproduce.spread import Spread

HEADER_BYTES = 16


def test_blocks_are_counted_with_their_headers() -> None:
    """first_fit has a header of 16 bytes and payloads of multiples of 8; nothing else is its."""
    live: dict[str, int] = {}
    peak = largest = 0
    text = (ROOT / "scenarios" / "found" / "first_fit-fragmentation.csv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        kind, name, *size = line.split(",")
        live.pop(name, None)
        if kind == "a":
            live[name] = -(-int(size[0]) // 8) * 8 + HEADER_BYTES
            largest = max(largest, live[name])
        peak = max(peak, sum(live.values()))
    found = Spread("first_fit").measure().row(0, named=True)
    assert (found["peak_live"], found["largest"]) == (peak, largest)
    assert 2 * peak < found["used"] <= 65536
