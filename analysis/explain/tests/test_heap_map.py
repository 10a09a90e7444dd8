"""Maps of heaps, from words written by hand, with the note that says how they were read."""

from __future__ import annotations

import struct
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.explain.explanation import block_layer_map, live_map
from base.run_folder.explanation import HeapMap
from simulator.outputs import State

BASE = 0x2000_0100
MARK = 0x5400_0000
FREE, BEFORE, MERGED = 1, 2, 4
MAGIC, IS_FREE, IS_LIVE = 0x4B4C4254, 0x45455246, 0x4556494C
WHOLE = "Read from the blocks' headers; a block's bytes include its header."
Piece = tuple[int, int, str]


def state(words: dict[int, int], region_bytes: int) -> State:
    region = bytearray(b"\xa5" * region_bytes)
    for offset, word in words.items():
        struct.pack_into("<I", region, offset, word)
    return State(0, Fraction(0), Fraction(1), 0, {}, BASE, bytes(region))


def pieces(heap_map: HeapMap, region_bytes: int = 128) -> list[Piece]:
    """Offset, bytes and kind of each piece."""
    assert heap_map.region_bytes == region_bytes
    return [(piece.offset, piece.bytes, piece.what) for piece in heap_map.pieces]


def blocks(words: dict[int, int], header_bytes: int) -> HeapMap:
    program: Any = SimpleNamespace(data_address={"heap_region": BASE}.get)
    return block_layer_map(program, state(words, 128), 128, header_bytes)


def cut(at: int) -> str:
    return f"Read from the blocks' headers, as far as {at:,} bytes; what follows is no block."


def test_headers_of_four_bytes() -> None:
    heap_map = blocks({4: MARK | 24, 28: MARK | 32 | FREE, 60: MARK | 64 | BEFORE}, 4)
    assert pieces(heap_map) == [
        *((0, 4, "unknown"), (4, 24, "live"), (28, 32, "free"), (60, 64, "live")),
        (124, 4, "unknown"),
    ]
    assert heap_map.note == WHOLE


@pytest.mark.parametrize("damaged", [0x5500_0020, MARK | 32 | MERGED, MARK | 200, MARK, MARK | 112])
def test_a_damaged_header_ends_the_map(damaged: int) -> None:
    heap_map = blocks({4: MARK | 24, 28: damaged}, 8)
    assert (pieces(heap_map), heap_map.note) == ([(0, 24, "live"), (24, 104, "unknown")], cut(24))


def header(offset: int, payload: int, status: int, previous: int, magic: int = MAGIC) -> dict[int, int]:
    """The four words of a header of 16 bytes."""
    return dict(zip(range(offset, offset + 16, 4), (magic, payload, status, previous), strict=True))


FIRST = header(0, 24, IS_LIVE, 0)


def test_headers_of_sixteen_bytes() -> None:
    """40 bytes, 24 of them its own; 32; and the other 56."""
    heap_map = blocks({**FIRST, **header(40, 16, IS_FREE, BASE), **header(72, 40, IS_LIVE, BASE + 40)}, 16)
    assert pieces(heap_map) == [(0, 40, "live"), (40, 32, "free"), (72, 56, "live")]
    assert heap_map.note == WHOLE


SLOTS = BASE + 96
BETWEEN = (
    "Read from the bench's table of live blocks, with the sizes asked for: what lies between is free or the "
    "allocator's own, which its blocks do not tell."
)


def live(slots: dict[int, int], sizes: dict[int, int], **variables: int) -> HeapMap:
    """The map of a heap of 96 bytes; the table lies behind it, an address in every other word."""
    table = {96 + 8 * slot: payload for slot, payload in slots.items()}
    program: Any = SimpleNamespace(data_address={"heap_region": BASE, "slots": SLOTS, **variables}.get)
    return live_map(program, state(table, 128), 96, sizes)


def test_live_blocks_lie_where_the_benchs_table_says() -> None:
    """Slot 2 lies before slot 0, slot 1 outside of the heap; 8 of the 10 bytes of slot 3 fit."""
    slots = {0: BASE + 40, 1: BASE + 96, 2: BASE, 3: BASE + 88}
    heap_map = live(slots, {0: 16, 1: 8, 2: 24, 3: 10})
    assert pieces(heap_map, 96) == [
        *((0, 24, "live"), (24, 16, "unknown"), (40, 16, "live"), (56, 32, "unknown"), (88, 8, "live")),
    ]
    assert heap_map.note == BETWEEN
