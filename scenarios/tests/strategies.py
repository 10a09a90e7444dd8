"""Hypothesis strategies for well-formed images."""

from __future__ import annotations

import string

from hypothesis import strategies as st

from scenarios.operations import CALLS, RECORDS, Allocate, Call, Free, Image, Mark, Operation
from scenarios.stimulus import NO_STIMULUS, Stimulus

U32 = 2**32 - 1
NAMES = st.text(st.sampled_from(string.ascii_lowercase + "é_-9"), min_size=1, max_size=15)
STIMULI = st.just(NO_STIMULUS) | st.builds(
    Stimulus, st.just("periodic"), st.integers(1, U32), st.integers(0, U32)
)
STIMULI |= st.builds(
    Stimulus, st.just("random"), st.integers(4000, U32), st.integers(0, U32), st.integers(0, 65535)
)
STIMULI |= st.builds(
    Stimulus, st.just("burst"), st.integers(70_000, U32), st.integers(0, U32), st.integers(16, 65535)
)


@st.composite
def operation_lists(draw: st.DrawFn) -> tuple[Operation, ...]:
    """Marks, calls, allocations into empty slots and frees of live ones, in any allowed order."""
    slots = draw(st.lists(st.integers(0, 2047), min_size=1, max_size=6, unique=True))
    live: list[int] = []
    operations: list[Operation] = []
    for _ in range(draw(st.integers(0, 20))):
        empty = [slot for slot in slots if slot not in live]
        kind = draw(st.sampled_from(["mark", "call"] + ["allocate"] * bool(empty) + ["free"] * bool(live)))
        measured = draw(st.booleans())
        if kind == "mark":
            operations.append(Mark(draw(st.integers(0, U32))))
        elif kind == "call":
            operations.append(Call(draw(st.sampled_from(CALLS)), measured))
        elif kind == "free":
            slot = draw(st.sampled_from(live))
            live.remove(slot)
            operations.append(Free(slot, measured))
        else:
            slot = draw(st.sampled_from(empty))
            live.append(slot)
            size, align_log2 = draw(st.integers(1, U32)), draw(st.integers(0, 31))
            last = draw(st.booleans())
            operations.append(Allocate(slot, size, measured, align_log2, last_if_refused=last))
            if draw(st.booleans()):
                operations.append(Allocate(slot, size, measured, retry=True, last_if_refused=not last))
    return tuple(operations)


IMAGES = st.builds(Image, NAMES, STIMULI, operation_lists(), st.sampled_from(RECORDS))
