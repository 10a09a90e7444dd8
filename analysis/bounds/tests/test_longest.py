"""The longest path, against all paths tried one by one."""

from __future__ import annotations

from random import Random

import pytest

from analysis.bounds.longest import Passes, longest_ways
from analysis.bounds.price import Price

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


def longest(
    entry: int, exits: set[int], edges: Edges, cost: dict[int, int], passes: Passes[int]
) -> int | None:
    priced = {u: {v: Price(cycles) for v, cycles in following} for u, following in edges.items()}
    ways = longest_ways(entry, exits, priced, {node: Price(cycles) for node, cycles in cost.items()}, passes)
    return max((way.cycles for way in ways.values()), default=None)


@pytest.mark.parametrize("passes", [0, 1, 2, 5])
@pytest.mark.parametrize("seed", range(20))
def test_a_loop_with_branches_inside_and_a_way_out_of_its_middle(seed: int, passes: int) -> None:
    """1 is the head. A lap goes over 2 or 3 to 4 and back. The ways out are at 1 and at 4."""
    random = Random(seed)
    shape = {0: [1], 1: [2, 3, 5], 2: [4], 3: [4], 4: [1, 5], 5: []}
    edges = {u: [(v, random.randrange(9)) for v in following] for u, following in shape.items()}
    cost = {node: random.randrange(1, 9) for node in shape}
    most = dict.fromkeys((1, 2, 3, 4), passes)
    assert longest(0, {5}, edges, cost, lambda *_: passes) == by_trying(0, {5}, edges, cost, most)
