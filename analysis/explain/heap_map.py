"""What lies in the heap's region at an instant, read from the board's memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from analysis.explain.program import Program
from base.run_folder.explanation import HeapMap, Piece
from simulator.outputs import State

# firmware/heap/block_layer.h
_HEADER_BYTES = 16
_MAGIC = 0x4B4C4254
_STATUS: dict[int | None, Literal["free", "live"]] = {0x45455246: "free", 0x4556494C: "live"}

# firmware/heap/block_header_short.h
_SHORT_MARK = 0x54
_SHORT_SIZE = 0x00FF_FFF8
_SHORT_FREE, _SHORT_MERGED = 1, 4

_SLOT_BYTES = 8


def block_layer_map(program: Program, state: State, region_bytes: int, header_bytes: int) -> HeapMap:
    """Reads the block layer's headers, from the first block to the last or to a damaged one.

    `header_bytes` is 16, or 8 or 4 with the knob HDR.
    """
    base = program.data_address("heap_region") or 0
    if header_bytes == _HEADER_BYTES:
        pieces = list(_blocks(state, base, region_bytes))
    else:
        pieces = list(_short_blocks(state, base, region_bytes, header_bytes))
    total = sum(piece.bytes for piece in pieces)
    if total < region_bytes:
        rest = Piece(offset=total, bytes=region_bytes - total, what="unknown")
        note = f"Read from the blocks' headers, as far as {total:,} bytes; what follows is no block."
        return HeapMap(region_bytes=region_bytes, pieces=[*pieces, rest], note=note)
    note = "Read from the blocks' headers; a block's bytes include its header."
    return HeapMap(region_bytes=region_bytes, pieces=pieces, note=note)


def _blocks(state: State, base: int, region_bytes: int) -> Iterator[Piece]:
    offset, previous = 0, 0
    while offset < region_bytes:
        magic, size, status, prev = (state.word(base + offset + at) for at in (0, 4, 8, 12))
        if magic != _MAGIC or size is None or status not in _STATUS or prev != previous:
            return
        if offset + _HEADER_BYTES + size > region_bytes:
            return
        yield Piece(offset=offset, bytes=_HEADER_BYTES + size, what=_STATUS[status])
        previous = base + offset
        offset += _HEADER_BYTES + size


def _short_blocks(state: State, base: int, region_bytes: int, header_bytes: int) -> Iterator[Piece]:
    margin = 4 if header_bytes == 4 else 0
    if margin:
        yield Piece(offset=0, bytes=margin, what="unknown")
    offset, end = margin, region_bytes - margin
    while offset < end:
        word = state.word(base + offset + header_bytes - 4)
        if word is None or word >> 24 != _SHORT_MARK or word & _SHORT_MERGED:
            return
        size = word & _SHORT_SIZE
        if size < header_bytes or offset + size > end:
            return
        yield Piece(offset=offset, bytes=size, what="free" if word & _SHORT_FREE else "live")
        offset += size
    if margin:
        yield Piece(offset=end, bytes=margin, what="unknown")


def live_map(program: Program, state: State, region_bytes: int, live: Mapping[int, int]) -> HeapMap:
    """Reads the bench's own table of live blocks. `live` maps slots to the sizes asked for."""
    base = program.data_address("heap_region") or 0
    table = program.data_address("slots")
    note = (
        "Read from the bench's table of live blocks, with the sizes asked for: what lies between is free or "
        "the allocator's own, which its blocks do not tell."
    )
    if table is None:
        whole = Piece(offset=0, bytes=region_bytes, what="unknown")
        return HeapMap(region_bytes=region_bytes, pieces=[whole], note=note)
    placed = []
    for slot, size in live.items():
        payload = state.word(table + slot * _SLOT_BYTES)
        if payload is not None and base <= payload < base + region_bytes:
            offset = payload - base
            placed.append(Piece(offset=offset, bytes=min(size, region_bytes - offset), what="live"))
    placed.sort(key=lambda piece: piece.offset)
    return HeapMap(region_bytes=region_bytes, pieces=list(_with_gaps(placed, region_bytes)), note=note)


def _with_gaps(placed: list[Piece], region_bytes: int) -> Iterator[Piece]:
    at = 0
    for piece in placed:
        if piece.offset > at:
            yield Piece(offset=at, bytes=piece.offset - at, what="unknown")
        yield piece
        at = piece.offset + piece.bytes
    if at < region_bytes:
        yield Piece(offset=at, bytes=region_bytes - at, what="unknown")
