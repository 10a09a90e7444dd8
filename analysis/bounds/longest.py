"""The longest path through a graph whose loops have bounds.

Nodes and edges have costs. A loop is entered at one node only, its head. Each time the loop is
entered, a path passes the head at most as often as the loop's bound says. The same holds for the
loops inside it, on each lap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from analysis.errors import NoBoundError

Successors = Mapping[int, Sequence[tuple[int, int]]]
"""For each node the nodes that may follow, each with the cost of the edge to it."""


def longest(
    entry: int,
    exits: Iterable[int],
    successors: Successors,
    cost: Mapping[int, int],
    passes: Callable[[int], int],
) -> int | None:
    """The cost of the longest path from `entry` to one of `exits`, the costs of both included.

    None if no path leads to an exit: paths that reach none do not count. `passes` says how often
    the head of a loop is passed at most. It raises NoBoundError for a loop without a known bound.
    """
    wanted = set(exits)
    alive = _reaching(wanted, successors)
    if entry not in alive:
        return None
    pruned = {u: [(v, w) for v, w in successors.get(u, ()) if v in alive] for u in alive}
    far = _distances(entry, pruned, cost, passes)
    return max(far[end] for end in wanted if end in far) if any(end in far for end in wanted) else None


def _reaching(wanted: set[int], successors: Successors) -> set[int]:
    """The nodes from which a path leads to one of `wanted`, and those themselves."""
    before: dict[int, list[int]] = {}
    for u, following in successors.items():
        for v, _ in following:
            before.setdefault(v, []).append(u)
    alive, waiting = set(wanted), list(wanted)
    while waiting:
        for u in before.get(waiting.pop(), ()):
            if u not in alive:
                alive.add(u)
                waiting.append(u)
    return alive


def _distances(
    entry: int, successors: Successors, cost: Mapping[int, int], passes: Callable[[int], int]
) -> dict[int, int]:
    """The longest way from `entry` to each node that it reaches, both ends included."""
    far: dict[int, int] = {entry: cost[entry]}
    for component in _components(entry, successors):
        heads = [node for node in component if node in far]
        if not heads:
            continue
        inner = set(component)
        loops = len(component) > 1 or any(v == component[0] for v, _ in successors.get(component[0], ()))
        if loops:
            if len(heads) > 1:
                raise NoBoundError(f"The loop at {min(component):#010x} is entered at {len(heads)} places.")
            at_head = far.pop(heads[0])
            far |= _through_loop(heads[0], at_head, inner, successors, cost, passes)
        for node in inner & far.keys():
            for v, edge in successors.get(node, ()):
                if v not in inner:
                    far[v] = max(far.get(v, 0), far[node] + edge + cost[v])
    return far


def _through_loop(
    head: int,
    at_head: int,
    inner: set[int],
    successors: Successors,
    cost: Mapping[int, int],
    passes: Callable[[int], int],
) -> dict[int, int]:
    """The longest way to each node of a loop.

    It is the way to the head, all laps but the last, and the way from the head to the node. No path
    leads to a loop whose head is passed 0 times.
    """
    rounds = passes(head)
    if rounds == 0:
        return {}
    once = {u: [(v, w) for v, w in successors.get(u, ()) if v in inner and v != head] for u in inner}
    within = _distances(head, once, cost, passes)
    lap = max(
        within[u] + edge for u in inner if u in within for v, edge in successors.get(u, ()) if v == head
    )
    laps = (rounds - 1) * lap
    return {node: at_head - cost[head] + laps + way for node, way in within.items()}


def _components(entry: int, successors: Successors) -> list[list[int]]:
    """The strongly connected components that `entry` reaches (Tarjan, 1972).

    Each comes before those that it leads to.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    work: list[tuple[int, int]] = [(entry, 0)]
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
            found.append(component)
        if work:
            parent = work[-1][0]
            low[parent] = min(low[parent], low[node])
    return found[::-1]
