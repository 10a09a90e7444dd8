"""Live bytes and blocks of a stored trace, held against a model of the heap's format."""

from __future__ import annotations

from base.paths import ROOT
from studies.reproduce.measure import Spread

HEADER_BYTES = LEFT_BYTES = 16


def test_blocks_are_counted_with_their_headers() -> None:
    """first_fit has a header of 16 bytes and payloads of multiples of 8. A block also keeps what is
    left of the one it was cut from, if that is less than the smallest block of 24.
    """
    live: dict[str, int] = {}
    peak = largest = most = 0
    text = (ROOT / "scenarios" / "found" / "first_fit-fragmentation.csv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        kind, name, *size = line.split(",")
        live.pop(name, None)
        if kind == "a":
            live[name] = -(-int(size[0]) // 8) * 8 + HEADER_BYTES
            largest = max(largest, live[name])
        peak, most = max(peak, sum(live.values())), max(most, len(live))
    found = Spread("first_fit").measure().row(0, named=True)
    assert peak <= found["peak_live"] <= peak + LEFT_BYTES * most
    assert largest <= found["largest"] <= largest + LEFT_BYTES
    assert 2 * peak < found["used"] <= 65536
