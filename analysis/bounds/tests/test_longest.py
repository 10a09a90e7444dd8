"""The longest path, against all paths tried one by one."""

from __future__ import annotations

from random import Random

import pytest

from analysis.bounds.longest import Lap, Passes, longest_ways
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


def longest(
    entry: int, exits: set[int], edges: Edges, cost: dict[int, int], passes: Passes[int]
) -> int | None:
    ways = longest_ways(entry, exits, edges, cost, passes)
    return max((way.cost for way in ways.values()), default=None)


def unbounded(_: int, _inner: object) -> int:
    raise NoBoundError("nobody knows")


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


@pytest.mark.parametrize("seed", range(60))
def test_laps_that_differ_are_as_if_each_stood_in_the_code(seed: int) -> None:
    """1 is the head, 2 and 3 are ways on to 4, which leads back. Some may lead out, in all laps."""
    random = Random(seed)
    laps = random.randint(1, 5)
    shape = {1: [2, 3], 2: [4], 3: [4], 4: [1]}
    out = {u: [(5, 3)] if random.random() < 0.5 else [] for u in shape}
    lap_edges: list[Edges] = [
        {
            u: [*((v, random.randrange(9)) for v in to if random.random() < 0.8), *out[u]]
            for u, to in shape.items()
        }
        for _ in range(laps)
    ]
    costs = [{node: random.randrange(1, 9) for node in shape} for _ in range(laps)]
    whole: Edges = {0: [(1, 1)], **{u: [*((v, 0) for v in to), *out[u]] for u, to in shape.items()}, 5: []}

    def one_after_the_other() -> tuple[Edges, dict[int, int]]:
        edges: Edges = {0: [(11, 1)]}
        cost = {0: 1, 5: 1}
        for lap in range(laps):
            for u, to in lap_edges[lap].items():
                cost[10 * (lap + 1) + u] = costs[lap][u]
                edges[10 * (lap + 1) + u] = [
                    (5 if v == 5 else 10 * (lap + 1 + (v == 1)) + v, edge)
                    for v, edge in to
                    if v != 1 or lap + 1 < laps
                ]
        return edges, cost

    edges, cost = one_after_the_other()
    lap_list = [Lap(1, lap_edges[lap], costs[lap], unbounded) for lap in range(laps)]
    plain = {0: 1, 5: 1, **dict.fromkeys((1, 2, 3, 4), 1)}
    assert longest(0, {5}, whole, plain, lambda *_: lap_list) == by_trying(0, {5}, edges, cost, {})
