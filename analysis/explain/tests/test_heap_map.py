"""The map of a heap with short headers, from words written by hand."""

from __future__ import annotations

import struct
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.explain.heap_map import block_layer_map
from simulator.outputs import State

BASE = 0x2000_0100
MARK = 0x5400_0000
FREE, BEFORE, MERGED = 1, 2, 4


def told(words: dict[int, int], region_bytes: int, header_bytes: int) -> list[tuple[int, int, str]]:
    """Offset, bytes and kind of each piece of a region with these words at these offsets."""
    region = bytearray(b"\xa5" * region_bytes)
    for offset, word in words.items():
        struct.pack_into("<I", region, offset, word)
    state = State(0, Fraction(0), Fraction(1), 0, {}, BASE, bytes(region))
    program: Any = SimpleNamespace(data_address=lambda _: BASE)
    found = block_layer_map(program, state, region_bytes, header_bytes)
    return [(piece.offset, piece.bytes, piece.what) for piece in found.pieces]


def test_headers_of_four_bytes() -> None:
    words = {4: MARK | 24, 28: MARK | 32 | FREE, 60: MARK | 64 | BEFORE}
    assert told(words, 128, 4) == [
        *((0, 4, "unknown"), (4, 24, "live"), (28, 32, "free"), (60, 64, "live")),
        (124, 4, "unknown"),
    ]


def test_headers_of_eight_bytes() -> None:
    words = {4: MARK | 24, 28: MARK | 104 | FREE}
    assert told(words, 128, 8) == [(0, 24, "live"), (24, 104, "free")]


@pytest.mark.parametrize("damaged", [0x5500_0020, MARK | 32 | MERGED, MARK | 200, MARK])
def test_a_damaged_header_ends_the_map(damaged: int) -> None:
    assert told({4: MARK | 24, 28: damaged}, 128, 8) == [(0, 24, "live"), (24, 104, "unknown")]
