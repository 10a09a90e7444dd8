"""Properties of every allocator that builds here, against models that know none of its code.

Hypothesis chooses the operations, and shortens lists that show a fault. `judge` says whether what
is live stays whole, `trace_replay` where each block lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from base import heap_size
from firmware.build import catalogue, host_contract, host_heap
from firmware.heap.tests.host_build import ON_THE_HOST
from firmware.heap.tests.models import Block, Buddies, Gaps, Model, Pools
from scenarios.trace import ALLOCATE, FREE, REALLOCATE

SLOTS = 20
JUDGE_WITHIN_S = 600
Operation = tuple[int, int, int, int]
"""Kind, slot, size and alignment, as trace_replay takes them."""

THESIS = ("ublox_buddy", "REMAINDER_FIRST=1")
BUILDS: list[tuple[str, ...]] = [(name,) for name in ON_THE_HOST]
BUILDS += [
    (name, f"HDR={size}") for name, row in catalogue.own().items() if "HDR" in row.knobs for size in (8, 4)
]
SHORT = {(name,) for name in catalogue.EACH_KIND} | {("half_tree", "HDR=4")}


def named(builds: Sequence[tuple[str, ...]]) -> list[object]:
    """Builds as parameters of a test: an allocator's id, and the knobs that are turned."""
    return [
        pytest.param(build, id="-".join(build), marks=() if build in SHORT else pytest.mark.long)
        for build in builds
    ]


BOUNDARIES = (8, 16, 24, 40, 72, 112, 120, 128, 136, 512, 1000, 1016, 1024, 1032, 4096)
"""Sizes where classes begin and end, so that a request meets a hole of nearly its size."""
SIZES = st.one_of(
    st.integers(1, 64),
    st.integers(1, 600),
    st.sampled_from(BOUNDARIES),
    st.sampled_from(BOUNDARIES),
    st.sampled_from([5_000, 11_000, 20_000, 30_000, 65_519, 70_000]),
)
DRAWN = st.lists(
    st.tuples(
        st.integers(0, SLOTS - 1),
        st.one_of(st.just(0), SIZES, SIZES),
        st.sampled_from([0, 0, 0, 16, 32, 256, 1024]),
    ),
    min_size=60,
    max_size=150,
)
"""Slot, size (0 frees) and alignment (0: the allocator's own)."""
LIMITS = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def possible(drawn: Sequence[tuple[int, int, int]], promises: frozenset[str]) -> list[Operation]:
    """What of it the allocator promises: without frees each slot is used once, and without a
    reallocation of its own a live slot is freed before it is used again.
    """
    sequence: list[Operation] = []
    in_use: set[int] = set()
    for slot, size, alignment in drawn:
        if slot in in_use and "frees" not in promises:
            continue
        if slot in in_use and size and "reallocates" in promises:
            sequence.append((REALLOCATE, slot, size, 0))
            continue
        if slot in in_use:
            sequence.append((FREE, slot, 0, 0))
            in_use.discard(slot)
        if size:
            sequence.append((ALLOCATE, slot, size, alignment if "aligns" in promises else 0))
            in_use.add(slot)
    return sequence or [(ALLOCATE, 0, 1, 0)]


def knobs_of(build: tuple[str, ...]) -> dict[str, int]:
    return {name: int(value) for name, _, value in (knob.partition("=") for knob in build[1:])}


def replayed(build: tuple[str, ...], sequence: Sequence[Operation], folder: Path) -> host_heap.Replay:
    program = host_heap.build(build[0], heap_size.DEFAULT_BYTES, knobs_of(build))
    file = host_heap.write(np.array(sequence, dtype=np.uint32), folder / "operations")
    return host_heap.run(program, file, heap_size.DEFAULT_BYTES)


def model_of(build: tuple[str, ...]) -> Model | None:
    row = catalogue.allocators()[build[0]]
    if build[1:] in {("HDR=8",), ("HDR=4",)}:
        header = int(build[1][-1])
        smallest_block = {"half_fit_cstm": 24, "half_tree": 24}.get(row.id, 16)
        return Gaps(header, 8 if header == 4 else 0, smallest_block - header, finds="all")
    if row.kind == "index":
        smallest = {"avl": 24, "half_tree": 16}.get(row.id, 8)
        finds = {"tlsf": "sixteenths", "half_fit": "powers"}.get(row.id, "all")
        return Gaps(header=16, tail=0, smallest=smallest, finds=finds)
    if row.id == "tlsf_compact":
        return Gaps(header=4, tail=8, smallest=12, finds="sixteenths")
    return Pools() if row.id == "pool" else None


WORDS = {ALLOCATE: "a {} {} {}", REALLOCATE: "r {} {}", FREE: "f {}"}


@pytest.mark.parametrize("build", named(BUILDS))
@given(drawn=DRAWN)
@LIMITS
def test_what_is_live_stays_whole_and_what_fits_is_found(
    build: tuple[str, ...], drawn: list[tuple[int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    sequence = possible(drawn, catalogue.allocators()[build[0]].promises)
    lines = [WORDS[kind].format(*words) for kind, *words in sequence]
    judged = host_contract.judge(host_contract.build(build[0], knobs_of(build)), lines, JUDGE_WITHIN_S)
    assert judged.holds, (judged.outcome, lines)
    model = model_of(build)
    if model is None:
        return
    result = replayed(build, sequence, tmp_path_factory.getbasetemp())
    live: dict[int, Block] = {}
    outcomes = zip(sequence, result.status, result.begin, result.end, result.usable, strict=True)
    for (kind, slot, size, alignment), status, begin, end, usable in outcomes:
        before = dict(live)
        if kind == FREE:
            live.pop(slot, None)
        elif status == 0:
            live[slot] = Block(int(begin), int(end), int(usable))
        if kind == ALLOCATE and not alignment:
            if status == 0:
                model.served(before, size, live[slot])
            else:
                model.refused(before, size)


BUDDIES: dict[tuple[str, ...], Callable[[], Buddies]] = {
    ("binary_buddy",): lambda: Buddies(16, 13, 8, 0),
    ("ublox_buddy",): lambda: Buddies(48, 9, 4, 0),
    THESIS: lambda: Buddies(48, 9, 4, 0, lost=48, remainder_first=True),
}
"""Each with its knobs, and its model."""


@pytest.mark.parametrize("build", named(list(BUDDIES)))
@given(drawn=DRAWN)
@LIMITS
def test_buddies_lie_where_the_algorithm_puts_them(
    build: tuple[str, ...], drawn: list[tuple[int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = BUDDIES[build]()
    sequence = [(ALLOCATE, 0, 1, 0), (FREE, 0, 0, 0), *possible(drawn, frozenset({"frees"}))]
    result = replayed(build, sequence, tmp_path_factory.getbasetemp())
    offset = int(result.begin[0]) - (model.allocate(0, 1) or 0)
    model.free(0)
    columns = (result.status, result.begin, result.end, result.largest_free)
    for (kind, slot, size, _), (status, begin, end, largest) in zip(
        sequence[2:], np.column_stack(columns)[2:].tolist(), strict=True
    ):
        if kind == ALLOCATE:
            assert model.allocate(slot, size) == (begin - offset if status == 0 else None)
        elif status == 0:
            model.free(slot)
        if kind == ALLOCATE and status == 0:
            assert end - begin == model.unit << model.live[slot][1]
            assert largest == model.largest_free
