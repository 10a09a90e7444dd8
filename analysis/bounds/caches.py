"""Which loops keep what they read in the caches of the flash.

A cache that forgets what was least recently used keeps all lines of a loop whose lines fit in it.
So each of them is read at most once for each time that the loop is entered, whatever the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.bounds.costs import Costs
from analysis.bounds.flow import Node
from analysis.bounds.longest import components, is_loop

_ROOT = (-1, None)


class Hot(NamedTuple):
    """Whether all lines of code, and of data, are in the caches."""

    code: bool = False
    data: bool = False


COLD = Hot()


@dataclass(frozen=True)
class Lines:
    """The lines of the flash that are read as code and as data; None if they are not known."""

    code: frozenset[int] | None = frozenset()
    data: frozenset[int] | None = frozenset()

    def __or__(self, other: Lines) -> Lines:
        return Lines(_both(self.code, other.code), _both(self.data, other.data))

    def fit(self, costs: Costs) -> Hot:
        """Which of them stay in the caches that there are."""
        places, together = costs.lines, costs.lines.together
        code = costs.code_cache and self.code is not None and _places(self.code, together) <= places.code
        data = costs.data_cache and self.data is not None and _places(self.data, together) <= places.data
        return Hot(code, data)

    def first_reads(self, costs: Costs, hot: Hot) -> int:
        """Cycles that reading them once adds to finding them. A read may wait for another, and one
        of data holds up one of code besides; and the prefetch unit is not where it would be.
        """
        behind = 2 * costs.read_cycles - 2
        code = len(self.code or ()) * behind if hot.code else 0
        data = len(self.data or ()) * (behind + costs.read_cycles) if hot.data else 0
        return code + data + (3 * costs.read_cycles if code or data else 0)


UNKNOWN = Lines(None, None)


def full(costs: Costs) -> Lines:
    """As many as there can be."""
    places = costs.lines
    code, data = places.code * places.together, places.data * places.together
    return Lines(frozenset(range(code)), frozenset(range(data)))


def _places(lines: frozenset[int], together: int) -> int:
    """How many places of a cache they take at most."""
    return len({line // together for line in lines}) if together > 1 else len(lines)


def _both(ours: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    return None if ours is None or other is None else ours | other


@dataclass
class Kept:
    """The nodes whose lines stay in a cache while a loop runs, and what it costs to enter it."""

    hot: dict[Node, Hot]
    loops: dict[Node, tuple[int, int]]
    """For each node the loops that keep its code and its data, by number; 0 for none."""
    entering: dict[int, int]
    """For each loop what its first reads cost."""

    def enters(self, before: Node | None, node: Node) -> int:
        """The first reads of the loops that a way into `node` enters."""
        inside = self.loops.get(before, (0, 0)) if before is not None else (0, 0)
        entered = set(self.loops.get(node, (0, 0))) - set(inside) - {0}
        return sum(self.entering[loop] for loop in entered)


def cached(
    successors: Mapping[Node, Sequence[Node]],
    lines: Callable[[Node], Lines],
    costs: Costs,
    hot: Hot,
) -> Kept:
    """What stays in the caches in the loops of a graph in which `hot` does anyway."""
    lines_held = Kept(dict.fromkeys(successors, hot), {}, {})
    if costs.code_cache and not hot.code:
        _keep(lines_held, successors, lines, costs, Hot(code=True), set(successors))
    if costs.data_cache and not hot.data:
        _keep(lines_held, successors, lines, costs, Hot(data=True), set(successors))
    return lines_held


def _keep(
    lines_held: Kept,
    successors: Mapping[Node, Sequence[Node]],
    lines: Callable[[Node], Lines],
    costs: Costs,
    which: Hot,
    inside: set[Node],
) -> None:
    """Marks the outermost loops whose lines fit in a cache."""
    for loop in _loops(successors, inside):
        all_lines = Lines()
        for node in loop:
            all_lines |= lines(node)
        fits = all_lines.fit(costs)
        if (fits.code and which.code) or (fits.data and which.data):
            number = len(lines_held.entering) + 1
            lines_held.entering[number] = all_lines.first_reads(costs, which)
            for node in loop:
                code, data = lines_held.loops.get(node, (0, 0))
                lines_held.loops[node] = (number, data) if which.code else (code, number)
                hot = lines_held.hot[node]
                lines_held.hot[node] = Hot(hot.code or which.code, hot.data or which.data)
            continue
        outside = (following for u, following in successors.items() if u not in loop)
        entries = {node for following in outside for node in following if node in loop}
        entries = entries or {min(loop, key=repr)}
        cut = {u: [v for v in following if v not in entries] for u, following in successors.items()}
        _keep(lines_held, cut, lines, costs, which, loop)


def _loops(successors: Mapping[Node, Sequence[Node]], inside: set[Node]) -> Iterable[set[Node]]:
    weighed: dict[object, list[tuple[object, int]]] = {
        u: [(v, 0) for v in following if v in inside] for u, following in successors.items() if u in inside
    }
    weighed[_ROOT] = [(u, 0) for u in weighed]
    for component in components(_ROOT, weighed):
        if is_loop(component, weighed):
            yield set(component)  # type: ignore[arg-type]
