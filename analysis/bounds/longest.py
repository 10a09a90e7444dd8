"""The longest path through a graph whose loops have bounds.

Nodes and edges have prices. A loop is entered at one node, its head. Each time the loop is entered,
a path passes the head at most as often as the loop's bound says. The same holds for the loops
inside it, on each lap. A loop that can be entered at several nodes has a bound for each: a path
enters it at one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar

from analysis.bounds.price import NOTHING, Price

Node = TypeVar("Node", bound=Hashable)
Successors = Mapping[Node, Mapping[Node, Price]]
"""For each node the nodes that may follow, each with the price of the edge to it."""
Passes = Callable[[Node, set[Node]], int]
"""Takes the head of a loop and its nodes, and says how often the head is passed."""


def longest_ways(
    entry: Node,
    exits: Iterable[Node],
    successors: Successors[Node],
    cost: Mapping[Node, Price],
    passes: Passes[Node],
) -> dict[Node, Price]:
    """The longest path from `entry` to each of `exits` that a path leads to, both ends included.

    Only what leads to an exit counts."""
    wanted = set(exits)
    alive = reaching(wanted, successors)
    if entry not in alive:
        return {}
    far = _distances(entry, alive, successors, cost, passes, wanted)
    return {end: far[end] for end in wanted if end in far}


def reached(start: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """The nodes in `start`, and all that ways lead to from there."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for node in after(waiting.pop()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


def reaching(wanted: Iterable[Node], successors: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """The nodes from which a path leads to one of `wanted`, and those themselves."""
    before: dict[Node, list[Node]] = {}
    for u, following in successors.items():
        for v in following:
            before.setdefault(v, []).append(u)
    return reached(wanted, lambda node: before.get(node, ()))


def _distances(
    entry: Node,
    inside: AbstractSet[Node],
    successors: Successors[Node],
    cost: Mapping[Node, Price],
    passes: Passes[Node],
    wanted: set[Node],
) -> dict[Node, Price]:
    """The longest way from `entry` to each of the nodes `inside`, both ends included, through these
    alone. Of the nodes of a loop only those count at which it is left, or that are `wanted`.
    """
    own = {u: [v for v in successors.get(u, ()) if v in inside] for u in (entry, *inside)}
    # The longest way to a node, without itself.
    before, far = {entry: NOTHING}, dict[Node, Price]()
    for component in components([entry], own):
        inner = set(component)
        heads = [node for node in component if node in before]
        if is_loop(component, own):
            for head in heads:
                times = passes(head, inner)
                if times == 0:
                    # No path leads there.
                    continue
                # Whatever is entered at this node has no other way in any more.
                within = _distances(head, inner - {head}, successors, cost, passes, wanted)
                laps = [
                    way + successors[u][head] for u, way in within.items() if head in successors.get(u, ())
                ]
                # All laps but the last.
                around = NOTHING
                if laps and times > 1:
                    around = max(laps, key=lambda lap: lap.cycles) * (times - 1)
                for node, way in within.items():
                    if node in wanted or any(v not in inner for v in successors.get(node, ())):
                        _keep(far, node, before[head] + (around + way))
        else:
            far |= {node: before[node] + cost[node] for node in heads}
        for node in component:
            for v in own[node] if node in far else ():
                if v not in inner:
                    _keep(before, v, far[node] + successors[node][v])
    return far


def _keep(ways: dict[Node, Price], node: Node, way: Price) -> None:
    if node not in ways or way.cycles > ways[node].cycles:
        ways[node] = way


def is_loop(component: list[Node], successors: Mapping[Node, Iterable[Node]]) -> bool:
    """Whether a strongly connected component goes round."""
    return len(component) > 1 or component[0] in successors.get(component[0], ())


def components(starts: Iterable[Node], successors: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components that `starts` reach (Kosaraju's way; Sharir, 1981).

    Each comes before those that it leads to.
    """
    numbers, done, before = dict[Node, int](), list[Node](), dict[Node, list[Node]]()
    path = [(list[Node](), iter(starts))]
    while path:
        at, following = path[-1]
        for v in following:
            before.setdefault(v, []).extend(at)
            if v not in numbers:
                numbers[v] = len(numbers)
                path.append(([v], iter(successors.get(v, ()))))
                break
        else:
            done += path.pop()[0]
    components, left = list[list[Node]](), set(done)
    for node in reversed(done):
        if node in left:
            component = reached([node], lambda at: left.intersection(before.get(at, ())))
            left.difference_update(component)
            components.append(sorted(component, key=lambda u: -numbers[u]))
    return components
