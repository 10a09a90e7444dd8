"""What lies in the heap's region at an instant, read from the board's memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analysis.explain.program import Program
from analysis.explain.replay import State

# firmware/heap/block_layer.h
_HEADER_BYTES = 16
_MAGIC = 0x4B4C4254
_STATUS = {0x45455246: "free", 0x4556494C: "live"}

_SLOT_BYTES = 8


@dataclass(frozen=True)
class Piece:
    """`bytes` of the region from `offset` on: a block with its header, or what is known of it.

    `what` is live, free, or unknown: free, or the allocator's own.
    """

    offset: int
    bytes: int
    what: str


@dataclass(frozen=True)
class HeapMap:
    """The region from its first byte to its last. `note` says how it was read, and what cannot be told."""

    region_bytes: int
    pieces: tuple[Piece, ...]
    note: str


def block_layer_map(program: Program, state: State, region_bytes: int) -> HeapMap:
    """By the headers of our block layer, from the first block to the last or to a damaged one."""
    base = program.data_address("heap_region") or 0
    pieces = tuple(_blocks(state, base, region_bytes))
    told = sum(piece.bytes for piece in pieces)
    if told < region_bytes:
        rest = Piece(told, region_bytes - told, "unknown")
        note = f"Read from the blocks' headers, as far as {told:,} bytes; what follows is no block."
        return HeapMap(region_bytes, (*pieces, rest), note)
    return HeapMap(region_bytes, pieces, "Read from the blocks' headers; a block's bytes include its header.")


def _blocks(state: State, base: int, region_bytes: int) -> Iterator[Piece]:
    offset, previous = 0, 0
    while offset < region_bytes:
        magic, size, status, prev = (state.word(base + offset + at) for at in (0, 4, 8, 12))
        if magic != _MAGIC or size is None or status not in _STATUS or prev != previous:
            return
        if offset + _HEADER_BYTES + size > region_bytes:
            return
        yield Piece(offset, _HEADER_BYTES + size, _STATUS[status])
        previous = base + offset
        offset += _HEADER_BYTES + size


def live_map(program: Program, state: State, region_bytes: int, live: Mapping[int, int]) -> HeapMap:
    """By the bench's own table of live blocks: `live` maps slots to the sizes that were asked for."""
    base = program.data_address("heap_region") or 0
    table = program.data_address("slots")
    note = (
        "Read from the bench's table of live blocks, with the sizes asked for: what lies between is free or "
        "the allocator's own, which its blocks do not tell."
    )
    if table is None:
        return HeapMap(region_bytes, (Piece(0, region_bytes, "unknown"),), note)
    placed = []
    for slot, size in live.items():
        payload = state.word(table + slot * _SLOT_BYTES)
        if payload is not None and base <= payload < base + region_bytes:
            placed.append(Piece(payload - base, min(size, region_bytes - (payload - base)), "live"))
    return HeapMap(
        region_bytes, tuple(_with_gaps(sorted(placed, key=lambda p: p.offset), region_bytes)), note
    )


def _with_gaps(placed: list[Piece], region_bytes: int) -> Iterator[Piece]:
    at = 0
    for piece in [*placed, Piece(region_bytes, 0, "live")]:
        if piece.offset > at:
            yield Piece(at, piece.offset - at, "unknown")
        if piece.bytes:
            yield piece
        at = piece.offset + piece.bytes
