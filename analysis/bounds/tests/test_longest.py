"""The longest path, against all paths tried one by one."""

from __future__ import annotations

from random import Random

import pytest

from analysis.bounds.longest import longest
from analysis.errors import NoBoundError

Edges = dict[int, list[tuple[int, int]]]


def by_trying(
    entry: int, exits: set[int], edges: Edges, cost: dict[int, int], most: dict[int, int]
) -> int | None:
    """Tries every walk from `entry` that meets no node more often than `most` allows."""
    best: int | None = None
    walks = [(entry, cost[entry], {entry: 1})]
    while walks:
        at, spent, met = walks.pop()
        if at in exits:
            best = spent if best is None else max(best, spent)
        for to, edge in edges.get(at, []):
            if met.get(to, 0) < most.get(to, 1):
                walks.append((to, spent + edge + cost[to], {**met, to: met.get(to, 0) + 1}))
    return best


def unbounded(_: int) -> int:
    raise NoBoundError("nobody knows")


@pytest.mark.parametrize("seed", range(60))
def test_without_loops(seed: int) -> None:
    random = Random(seed)
    nodes = range(8)
    edges = {u: [(v, random.randrange(9)) for v in nodes if v > u and random.random() < 0.45] for u in nodes}
    cost = {node: random.randrange(1, 9) for node in nodes}
    exits = {node for node in nodes if random.random() < 0.4}
    assert longest(0, exits, edges, cost, unbounded) == by_trying(0, exits, edges, cost, {})


@pytest.mark.parametrize("passes", [0, 1, 2, 5])
@pytest.mark.parametrize("seed", range(20))
def test_a_loop_with_branches_inside_and_a_way_out_of_its_middle(seed: int, passes: int) -> None:
    """1 is the head. A lap goes over 2 or 3 to 4 and back. The ways out are at 1 and at 4."""
    random = Random(seed)
    shape = {0: [1], 1: [2, 3, 5], 2: [4], 3: [4], 4: [1, 5], 5: []}
    edges = {u: [(v, random.randrange(9)) for v in following] for u, following in shape.items()}
    cost = {node: random.randrange(1, 9) for node in shape}
    most = dict.fromkeys((1, 2, 3, 4), passes)
    assert longest(0, {5}, edges, cost, lambda _: passes) == by_trying(0, {5}, edges, cost, most)


def test_a_loop_in_a_loop() -> None:
    """First 0, then three laps of 1, each with four laps of 2. A node costs 1, an edge nothing."""
    edges: Edges = {0: [(1, 0)], 1: [(2, 0)], 2: [(2, 0), (3, 0)], 3: [(1, 0), (4, 0)], 4: []}
    cost = dict.fromkeys(edges, 1)
    laps = {1: 3, 2: 4}
    assert longest(0, {4}, edges, cost, laps.__getitem__) == 1 + 3 * (1 + 4 + 1) + 1


def test_what_leads_nowhere_does_not_count() -> None:
    edges: Edges = {0: [(1, 0), (2, 0)], 1: [], 2: [(2, 0)]}
    assert longest(0, {1}, edges, {0: 1, 1: 1, 2: 1_000}, unbounded) == 2
    assert longest(2, {1}, edges, {0: 1, 1: 1, 2: 1}, unbounded) is None


def test_loops_that_cannot_be_bounded() -> None:
    with pytest.raises(NoBoundError, match="nobody knows"):
        longest(0, {1}, {0: [(0, 0), (1, 0)]}, {0: 1, 1: 1}, unbounded)
    two_doors: Edges = {0: [(1, 0), (2, 0)], 1: [(2, 0)], 2: [(1, 0), (3, 0)], 3: []}
    with pytest.raises(NoBoundError, match="entered at 2 places"):
        longest(0, {3}, two_doors, dict.fromkeys(two_doors, 1), lambda _: 1)
