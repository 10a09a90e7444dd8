"""Traces made smaller, against a plain twin that walks through them block by block."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import trace as scenarios_trace
from scenarios.scaling import Room, Scaling, board
from scenarios.trace import ALLOCATE, FREE, Trace, TraceBuilder

TRACES = Path(__file__).resolve().parents[1] / "traces"
BOARD = board(21_840, 2_048, 65_536)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Any order of allocations, reallocations and frees."""
    live: list[int] = []
    builder, number = TraceBuilder(), 0
    for _ in range(draw(st.integers(1, 60))):
        what = draw(st.sampled_from("aafr")) if live else "a"
        size = draw(st.integers(1, 5000))
        if what == "a":
            number += 1
            live.append(number)
            builder.allocate(number, size, draw(st.sampled_from([0, 64])))
        elif what == "r":
            builder.reallocate(draw(st.sampled_from(live)), size)
        else:
            builder.free(live.pop(draw(st.integers(0, len(live) - 1))))
    return builder.trace("drawn")


def by_block(trace: Trace) -> list[list[tuple[int, int, int, int]]]:
    """(number, kind, size, alignment) of each block's operations, in the order of allocations."""
    held: dict[int, int] = {}
    block_lists: list[list[tuple[int, int, int, int]]] = []
    for number, (kind, slot, size, alignment) in enumerate(trace.operations.tolist()):
        if kind == ALLOCATE:
            held[slot] = len(block_lists)
            block_lists.append([])
        block_lists[held[slot]].append((number, kind, size, alignment))
    return block_lists


def plain(trace: Trace, one_in: int, divide: int) -> list[list[tuple[int, int, int, int]]]:
    """The blocks that are kept."""

    def key(block: list[tuple[int, int, int, int]]) -> tuple[int, int, int]:
        end = block[-1][0] if block[-1][1] == FREE else len(trace.operations)
        largest = max(-(-size // divide) for _, _, size, _ in block)
        return largest.bit_length(), (end - block[0][0]).bit_length(), block[0][0]

    return sorted(sorted(by_block(trace), key=key)[one_in // 2 :: one_in])


def plain_room(blocks: list[list[tuple[int, int, int, int]]], divide: int) -> Room:
    entries, most, most_bytes, most_gross = 0, 0, 0, 0
    live: Counter[tuple[int, int]] = Counter()
    steps = sorted((*operation, number) for number, block in enumerate(blocks) for operation in block)
    for _, kind, size, _, number in steps:
        size = -(-size // divide)
        before = [key for key in live if key[0] == number]
        if kind != FREE:
            entries += 1
            live[number, size] += 1
        most = max(most, live.total())
        most_bytes = max(most_bytes, sum(key[1] * n for key, n in live.items()))
        most_gross = max(most_gross, sum((-(-key[1] // 8) * 8 + 16) * n for key, n in live.items()))
        if before:
            entries += 1
            live[before[0]] -= 1
            live += Counter()
    return Room(entries, most, most_bytes, most_gross)


@given(traces(), st.integers(1, 40), st.integers(1, 12), st.integers(1, 8000))
def test_the_chosen_scale_is_the_smallest_that_fits(
    trace: Trace, entries: int, blocks: int, heap_bytes: int
) -> None:
    scaling, limits = Scaling(trace), board(entries, blocks, heap_bytes)

    def first(choosing: bool) -> int | None:
        generator = ((n, plain(trace, n, 1)) for n in range(1, len(by_block(trace)) * 2))
        fits = (
            n
            for n, blocks in generator
            if blocks and not plain_room(blocks, 1).beyond(limits, choosing=choosing)
        )
        return next(fits, None)

    assert scaling.smallest(limits) == (first(True) or first(False))


def test_a_sample_has_the_shape_of_the_whole() -> None:
    """jq's trace: each class of sizes and each of lifetimes keeps its share, to within a block."""
    trace = scenarios_trace.read(TRACES / "jq.csv")
    whole = by_block(trace)
    part = by_block(Scaling(trace).scaled(17))

    def sizes(blocks: list[list[tuple[int, int, int, int]]]) -> Counter[int]:
        return Counter(max(size for _, _, size, _ in block).bit_length() for block in blocks)

    for length, count in sizes(whole).items():
        assert abs(sizes(part)[length] - count / 17) <= 1
    freed = [sum(block[-1][1] == FREE for block in blocks) / len(blocks) for blocks in (whole, part)]
    assert freed[0] == pytest.approx(freed[1], abs=0.01)


def test_what_does_not_fit_is_named() -> None:
    room = Room(30_000, 3_000, 70_000, 90_000)
    assert room.beyond(BOARD) == [
        "30,000 operations where 21,840 fit",
        "3,000 blocks live at once where 2,048 fit",
        "70,000 bytes live at once where 65,536 fit",
    ]
    assert BOARD.gross_bytes == 49_152
