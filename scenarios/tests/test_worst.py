"""The constructions of the worst cases: how each heap is laid out, and what is refused."""

from __future__ import annotations

import pytest

from scenarios import catalogue
from scenarios.generator import Step
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.operations import Allocate, Free
from tests.tables import table


def steps(target: str, blocks: int = 0) -> list[Step]:
    return list(catalogue.load("worst", {"target": target, "blocks": blocks}).generator.steps())


def sizes(listed: list[Step]) -> dict[int, int]:
    return {step.operation.id: step.operation.size for step in listed if isinstance(step.operation, Allocate)}


def freed_sizes(listed: list[Step]) -> list[int]:
    """Of the set-up, in order."""
    of = sizes(listed)
    return [of[step.operation.id] for step in listed[:-1] if isinstance(step.operation, Free)]


@pytest.mark.parametrize("target", CONSTRUCTIONS)
def test_one_operation_is_measured_and_it_is_the_last(target: str) -> None:
    listed = steps(target)
    assert [step.operation.measured for step in listed] == [False] * (len(listed) - 1) + [True]
    assert isinstance(listed[-1].operation, Free) == CONSTRUCTIONS[target].frees
    assert {step.label for step in listed[:-1]} <= {"setup"}
    assert listed[-1].label == target


def test_the_list_has_equal_blocks_that_cannot_merge_and_do_not_fit() -> None:
    listed = steps("list", 3)
    assert [step.operation.size for step in listed[:6] if isinstance(step.operation, Allocate)] == [40, 8] * 3
    assert freed_sizes(listed) == [40, 40, 40]
    assert isinstance(listed[-1].operation, Allocate)
    assert listed[-1].operation.size == 56


def test_only_the_largest_of_a_tree_s_sizes_fits_and_it_is_freed_first() -> None:
    listed = steps("tree", 5)
    freed = freed_sizes(listed)
    assert isinstance(listed[-1].operation, Allocate)
    assert freed == sorted(freed, reverse=True)
    assert len(set(freed)) == 5
    assert freed[0] > listed[-1].operation.size > freed[1]


def test_a_way_down_a_trie_turns_right_at_every_bit() -> None:
    # One bin of powers of two, 2,048 to 4,095. In binary: 110000000000, 111000000000 …
    assert freed_sizes(steps("trie")) == [3072, 3584, 3840, 3968, 4032, 4064, 4080, 24]
    last = steps("trie")[-1].operation
    assert isinstance(last, Allocate)
    assert last.size == 4088


@table
def test_the_freed_block_lies_between_free_ones(target: str, neighbours: tuple[int, int]) -> None:
    listed = steps(target)
    order = [step.operation.id for step in listed if isinstance(step.operation, Allocate)]
    last = listed[-1].operation
    assert isinstance(last, Free)
    between = order.index(last.id)
    around = (order[between - 1], order[between + 1])
    freed = {step.operation.id for step in listed[:-1] if isinstance(step.operation, Free)}
    assert set(around) <= freed
    assert tuple(sizes(listed)[slot] for slot in around) == neighbours
