"""Properties of every allocator that builds on the host, against models that know none of its code.

The heap runs in `dialogue`, a 32-bit program at the end of a pipe. Hypothesis chooses the
operations, and shortens lists that show a fault.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware.build import catalogue
from firmware.heap.tests.host_build import ON_THE_HOST, WITH_SHORT_HEADERS, built
from firmware.heap.tests.models import ALIGNMENT, REGION_BYTES, Block, Buddies, Gaps, Model, NoModel, Pools

SLOTS = 20
EXAMPLES = 30
OK, OUT_OF_MEMORY, UNSUPPORTED = 0, 1, 9

Operation = tuple[int, int, int]
"""Slot, size (0 frees) and the alignment's logarithm (0: the allocator's own)."""


@dataclass(frozen=True)
class Answer:
    """What `dialogue` says of one operation; `largest` is the largest free block after it."""

    done: str
    status: int
    address: int
    usable: int
    largest: int
    live: int
    bytes_in_use: int
    damaged: int
    sound: int


class Dialogue:
    """A heap at the other end of a pipe."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1 << 16
        )

    def run(self, operations: Sequence[Operation]) -> list[Answer]:
        """Resets the heap and runs `operations`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(".\n" + "".join(f"{s} {n} {a}\n" for s, n, a in operations) + ".\n")
        self._process.stdin.flush()
        answers: list[Answer] = []
        dots = 0
        while dots < 2:
            line = self._process.stdout.readline()
            assert line, f"the heap died after {len(answers)} of {len(operations)} operations"
            if line.startswith("."):
                dots += 1
            elif not line.startswith("left out"):
                done, *numbers = line.split()
                answers.append(Answer(done, *map(int, numbers)))
        return answers

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


THESIS = ("ublox_buddy", "REMAINDER_FIRST=1")
BUILDS: list[tuple[str, ...]] = [(name,) for name in ON_THE_HOST]
BUILDS += [(name, f"HDR={size}") for name in WITH_SHORT_HEADERS for size in (8, 4)]
SHORT = {(name,) for name in catalogue.EACH_KIND} | {("half_tree", "HDR=4")}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(build, id="-".join(build), marks=() if build in SHORT else pytest.mark.long)
        for build in BUILDS
    ],
)
def build(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """An allocator's id, and the knobs that are turned."""
    chosen: tuple[str, ...] = request.param
    return chosen


@pytest.fixture(scope="module")
def allocator(build: tuple[str, ...]) -> catalogue.Allocator:
    return catalogue.allocators()[build[0]]


@pytest.fixture(scope="module")
def heap(build: tuple[str, ...]) -> Iterator[Dialogue]:
    dialogue = Dialogue(built(build[0], build[1:], ("dialogue",)) / "dialogue")
    yield dialogue
    dialogue.close()


BOUNDARIES = (8, 16, 24, 40, 72, 112, 120, 128, 136, 512, 1000, 1016, 1024, 1032, 4096)
"""Sizes where classes begin and end, so that a request meets a hole of nearly its size."""
SIZES = st.one_of(
    st.integers(1, 64),
    st.integers(1, 600),
    st.sampled_from(BOUNDARIES),
    st.sampled_from(BOUNDARIES),
    st.sampled_from([5_000, 11_000, 20_000, 30_000, 65_519, 70_000]),
)
OPERATION = st.tuples(
    st.integers(0, SLOTS - 1), st.one_of(st.just(0), SIZES, SIZES), st.sampled_from([0, 0, 0, 4, 5, 8, 10])
)
OPERATIONS = st.lists(OPERATION, min_size=60, max_size=150)
LIMITS = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def possible(operations: Sequence[Operation], promises: frozenset[str]) -> list[Operation]:
    """`operations` less what the allocator does not promise: alignments, reallocations (which
    become a free and an allocation), frees.
    """
    sequence: list[Operation] = []
    perhaps_live: set[int] = set()
    for slot, size, align_log2 in operations:
        if size and slot in perhaps_live and "reallocates" not in promises:
            sequence.append((slot, 0, 0))
        perhaps_live.add(slot)
        sequence.append((slot, size, align_log2 if "aligns" in promises else 0))
    if "frees" not in promises:
        slots = range(SLOTS)
        return [
            (slot, size, a)
            for slot, (_, size, a) in zip(
                slots, (operation for operation in sequence if operation[1]), strict=False
            )
        ]
    return sequence


def model_of(row: catalogue.Allocator, knobs: tuple[str, ...], first_payload: int) -> Model:
    if knobs in {("HDR=8",), ("HDR=4",)}:
        header = int(knobs[0][-1])
        smallest_block = {"half_fit_cstm": 24, "half_tree": 24}.get(row.id, 16)
        tail = 8 if header == 4 else 0
        return Gaps(first_payload, header, tail, smallest_block - header, finds="all")
    if row.kind == "index":
        smallest = {"avl": 24, "half_tree": 16}.get(row.id, 8)
        finds = {"tlsf": "sixteenths", "half_fit": "powers"}.get(row.id, "all")
        return Gaps(first_payload, header=16, tail=0, smallest=smallest, finds=finds)
    if row.id == "tlsf_compact":
        return Gaps(first_payload, header=4, tail=8, smallest=12, finds="sixteenths")
    return Pools() if row.id == "pool" else NoModel()


def check_every_heap(row: catalogue.Allocator, live: dict[int, Block], answer: Answer) -> None:
    """What holds whatever the policy: contents, places, sums, and the allocator's own checker."""
    assert answer.damaged == 0
    assert answer.sound == 1
    assert answer.live == len(live)
    if "tells_usable" in row.promises:
        assert answer.bytes_in_use == sum(block.usable for block in live.values())
    in_order = sorted(live.values(), key=lambda block: block.address)
    for one, other in pairwise(in_order):
        assert one.address + max(one.size, one.usable) <= other.address, "two blocks overlap"
    if in_order:
        assert in_order[-1].address + in_order[-1].size - in_order[0].address <= REGION_BYTES


FREE_ALL: list[Operation] = [(slot, 0, 0) for slot in range(SLOTS)]


@given(operations=OPERATIONS)
@LIMITS
def test_what_is_live_stays_whole_what_fits_is_found_and_all_comes_back(
    operations: list[Operation], allocator: catalogue.Allocator, build: tuple[str, ...], heap: Dialogue
) -> None:
    first, *_, fresh = heap.run([(0, 1, 0), *FREE_ALL])
    model = model_of(allocator, build[1:], first.address)
    sequence = possible(operations, allocator.promises)
    answers = heap.run(sequence + FREE_ALL)
    live: dict[int, Block] = {}
    aligned: set[int] = set()
    largest = None
    for (slot, size, align_log2), answer in zip(sequence, answers[: len(sequence)], strict=True):
        before = dict(live)
        if answer.done == "F":
            assert answer.status == OK
            del live[slot]
        elif answer.done != "-" and answer.status == OK:
            assert answer.address % max(ALIGNMENT, 1 << align_log2 if answer.done == "A" else 0) == 0
            live[slot] = Block(answer.address, size, answer.usable)
            assert answer.usable >= size or "tells_usable" not in allocator.promises
        elif answer.done != "-":
            cannot_move = answer.done == "R" and slot in aligned
            assert answer.status == OUT_OF_MEMORY or (cannot_move and answer.status == UNSUPPORTED)
        if answer.done == "A" and answer.status == OK:
            aligned = aligned | {slot} if align_log2 > 3 else aligned - {slot}
        if answer.done == "A" and align_log2 <= 3:
            served = answer.status == OK
            assert largest is None or served == (size <= largest)
            if served:
                model.served(before, size, live[slot])
            else:
                model.refused(before, size)
        largest = answer.largest if "knows_largest" in allocator.promises else None
        check_every_heap(allocator, live, answer)
    if {"frees", "merges", "knows_largest"} <= allocator.promises:
        last = answers[-1]
        assert (last.live, last.bytes_in_use, last.largest) == (0, 0, fresh.largest)


BUDDIES: dict[tuple[str, ...], Callable[[int], Buddies]] = {
    ("binary_buddy",): lambda first: Buddies(16, 13, 8, first),
    ("ublox_buddy",): lambda first: Buddies(48, 9, 4, first),
    THESIS: lambda first: Buddies(48, 9, 4, first, lost=48, remainder_first=True),
}
"""Each with its knobs, and its model by where the first block's payload lies."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id="-".join(name), marks=() if name in SHORT else pytest.mark.long)
        for name in BUDDIES
    ],
)
@given(operations=OPERATIONS)
@LIMITS
def test_buddies_lie_where_the_algorithm_puts_them(
    operations: list[Operation], name: tuple[str, ...], buddy: Dialogue
) -> None:
    plain = [(slot, size, 0) for slot, size, _ in possible(operations, frozenset({"frees"}))]
    answers = buddy.run(plain)
    base = buddy.run([(0, 1, 0)])[0].address
    offset = BUDDIES[name](0).allocate(0, 1)
    assert offset is not None
    model = BUDDIES[name](base - offset)
    for (slot, size, _), answer in zip(plain, answers, strict=True):
        if answer.done == "F":
            model.free(slot)
        elif answer.done == "A":
            assert model.allocate(slot, size) == (answer.address or None)


@pytest.fixture
def buddy(name: tuple[str, ...]) -> Iterator[Dialogue]:
    heap = Dialogue(built(name[0], name[1:], ("dialogue",)) / "dialogue")
    yield heap
    heap.close()
