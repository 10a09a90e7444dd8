"""until_full: what is drawn, how a refusal is met, and images with retries."""

from __future__ import annotations

import struct

import pytest

from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.generators.xorshift import Xorshift128
from scenarios.operations import Allocate, Free, Operation
from scenarios.trace import ALLOCATE, FREE, LAST_IF_REFUSED, RETRY, of_steps


def test_the_numbers_are_those_of_the_paper_and_of_the_crate() -> None:
    # G. Marsaglia's own seeds; and the seed of the crate's test `test_xorshift_true_values`.
    paper = Xorshift128((123456789, 362436069, 521288629, 88675123))
    assert [paper.next() for _ in range(3)] == [3701687786, 458299110, 2500872618]
    x, y, z, w = struct.unpack("<4I", bytes(range(16, 0, -1)))
    crate = Xorshift128((x, y, z, w))
    assert [crate.next() for _ in range(4)] == [2081028795, 620940381, 269070770, 16943764]
    with pytest.raises(ValueError, match="not all 0"):
        Xorshift128((0, 0, 0, 0))


def test_the_seed_is_the_first_word_of_the_crate_s_state() -> None:
    state = 244905504285122192707088002030163722993
    words = struct.unpack("<4I", state.to_bytes(16, "little"))
    random = Xorshift128(words)
    scenario = catalogue.load("until_full_aligned", {"requests": 20})
    assert scenario.seed == words[0]
    steps = [step.operation for step in scenario.generator.steps() if isinstance(step.operation, Allocate)]
    for request in steps[::2]:
        assert request.size == 1 + random.next() % 123
        assert request.align_log2 == (random.next() & 0xFF) % 6


def operations(name: str, requests: int) -> list[Operation]:
    return [step.operation for step in catalogue.load(name, {"requests": requests}).generator.steps()]


def test_without_alignments_none_are_drawn() -> None:
    plain = operations("until_full", 50)
    assert {operation.align_log2 for operation in plain if isinstance(operation, Allocate)} == {0}
    assert all(
        operation.last_if_refused and not operation.retry
        for operation in plain
        if isinstance(operation, Allocate)
    )
    assert [operation.id for operation in plain if isinstance(operation, Free)] == list(range(49, -1, -1))


def test_a_trace_has_the_flags_too() -> None:
    steps = [Step(Allocate(5, 9)), Step(Allocate(5, 1, retry=True, last_if_refused=True)), Step(Free(5))]
    assert of_steps("made", steps).operations.tolist() == [
        [ALLOCATE, 0, 9, 0],
        [ALLOCATE + RETRY + LAST_IF_REFUSED, 0, 1, 0],
        [FREE, 0, 0, 0],
    ]
    with pytest.raises(ScenarioError, match="block 5 was not allocated just before"):
        of_steps("made", [Step(Allocate(5, 9)), Step(Allocate(6, 9)), Step(Allocate(5, 1, retry=True))])
