"""The longest path through a graph whose loops have bounds.

Nodes and edges have costs. A loop is entered at one node, its head. Each time the loop is entered,
a path passes the head at most as often as the loop's bound says. The same holds for the loops
inside it, on each lap. A loop that can be entered at several nodes has a bound for each: a path
enters it at one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, TypeVar

Node = TypeVar("Node", bound=Hashable)
Successors = Mapping[Node, Sequence[tuple[Node, int]]]
"""For each node the nodes that may follow, each with the cost of the edge to it."""
Trace = tuple[Any, ...]
"""How a path came about: the trace before, and a node; or the trace before, laps, and one lap."""
Passes = Callable[[Node, set[Node]], int]
"""Takes the head of a loop and its nodes, and says how often the head is passed."""


class Way(NamedTuple):
    """A path by its cost and its trace."""

    cost: int
    trace: Trace


def longest_ways(
    entry: Node,
    exits: Iterable[Node],
    successors: Successors[Node],
    cost: Mapping[Node, int],
    passes: Passes[Node],
) -> dict[Node, Way]:
    """The longest path from `entry` to each of `exits` that a path leads to, both ends included.

    Only what leads to an exit counts."""
    wanted = set(exits)
    alive = reaching(wanted, successors)
    if entry not in alive:
        return {}
    pruned = {u: [(v, w) for v, w in successors.get(u, ()) if v in alive] for u in alive}
    far = _distances(entry, alive, pruned, cost, passes, wanted)
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


def reaching(wanted: Iterable[Node], successors: Successors[Node]) -> set[Node]:
    """The nodes from which a path leads to one of `wanted`, and those themselves."""
    before: dict[Node, list[Node]] = {}
    for u, following in successors.items():
        for v, _ in following:
            before.setdefault(v, []).append(u)
    return reached(wanted, lambda node: before.get(node, ()))


def _distances(
    entry: Node,
    inside: AbstractSet[Node],
    successors: Successors[Node],
    cost: Mapping[Node, int],
    passes: Passes[Node],
    wanted: set[Node],
) -> dict[Node, Way]:
    """The longest way from `entry` to each of the nodes `inside`, both ends included, through these
    alone. Of the nodes of a loop only those count at which it is left, or that are `wanted`.
    """
    whole = successors
    successors = {u: [(v, w) for v, w in whole.get(u, ()) if v in inside] for u in (entry, *inside)}
    far: dict[Node, Way] = {entry: Way(cost[entry], ((), entry))}
    for component in components(entry, successors):
        heads = [node for node in component if node in far]
        if not heads:
            continue
        inner = set(component)
        if is_loop(component, successors):
            at_heads = [(head, far.pop(head)) for head in heads]
            for head, at_head in at_heads:
                # Whatever is entered at this node has no other way in any more.
                for node, way in _through_loop(head, at_head, inner, whole, cost, passes, wanted).items():
                    if node not in far or way.cost > far[node].cost:
                        far[node] = way
        for node in [node for node in component if node in far]:
            for v, edge in successors.get(node, ()):
                if v not in inner:
                    further = far[node].cost + edge + cost[v]
                    if v not in far or further > far[v].cost:
                        far[v] = Way(further, (far[node].trace, v))
    return far


def is_loop(component: Sequence[Node], successors: Successors[Node]) -> bool:
    """Whether a strongly connected component goes round."""
    return len(component) > 1 or any(v == component[0] for v, _ in successors.get(component[0], ()))


def _through_loop(
    head: Node,
    at_head: Way,
    inner: set[Node],
    successors: Successors[Node],
    cost: Mapping[Node, int],
    passes: Passes[Node],
    wanted: set[Node],
) -> dict[Node, Way]:
    """The longest way to each node of a loop at which it may be left.

    It is the way to the head, all laps but the last, and the way from the head to the node. No path
    leads to a loop whose head is passed 0 times.
    """
    times = passes(head, inner)
    if times == 0:
        return {}
    within = _distances(head, inner - {head}, successors, cost, passes, wanted)
    laps = [
        Way(within[u].cost + edge, within[u].trace)
        for u in inner
        if u in within
        for v, edge in successors.get(u, ())
        if v == head
    ]
    before, trace = at_head.cost - cost[head], at_head.trace[0]
    if laps and times > 1:
        lap = max(laps, key=lambda way: way.cost)
        before += (times - 1) * lap.cost
        trace = (trace, times - 1, lap.trace)
    return {
        node: Way(before + way.cost, (trace, 1, way.trace))
        for node, way in within.items()
        if node in wanted or any(v not in inner for v, _ in successors.get(node, ()))
    }


def components(entry: Node, successors: Successors[Node]) -> list[list[Node]]:
    """The strongly connected components that `entry` reaches (Tarjan, 1972).

    Each comes before those that it leads to.
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    on_stack: set[Node] = set()
    stack: list[Node] = []
    components: list[list[Node]] = []
    work: list[tuple[Node, int]] = [(entry, 0)]
    while work:
        node, at = work.pop()
        if at == 0:
            index[node] = low[node] = len(index)
            stack.append(node)
            on_stack.add(node)
        following = successors.get(node, ())
        descended = False
        for position in range(at, len(following)):
            v = following[position][0]
            if v not in index:
                work += [(node, position + 1), (v, 0)]
                descended = True
                break
            if v in on_stack:
                low[node] = min(low[node], index[v])
        if descended:
            continue
        if low[node] == index[node]:
            component = []
            while True:
                v = stack.pop()
                on_stack.discard(v)
                component.append(v)
                if v == node:
                    break
            components.append(component)
        if work:
            parent = work[-1][0]
            low[parent] = min(low[parent], low[node])
    return components[::-1]
