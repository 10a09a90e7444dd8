"""The most instructions of a way, where `sections.py` gives the most cycles.

The longest way of the one need not be that of the other.
"""

from __future__ import annotations

from typing import NamedTuple

from analysis.bounds.flow import RETURN, Called, Edge, Node, Solved
from analysis.bounds.longest import longest_ways, reaching
from analysis.bounds.masks import Masks
from analysis.bounds.sections import Sections
from analysis.errors import NoBoundError


class Count(NamedTuple):
    """The most instructions, and the entries of all functions that may be called on the way."""

    instructions: int
    functions: frozenset[int]


class _Function(NamedTuple):
    """The same of a function, by the masks that it leaves."""

    by_masks: dict[Masks, int]
    functions: frozenset[int]


class Counted:
    """Counts instructions in the program of which those are the sections."""

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._known: dict[int, _Function] = {}
        self._under_way: set[int] = set()

    def marked(self, entry: int, begin: int, end: int) -> Count:
        """As Sections.marked. Raises NoBoundError."""
        solved = self._sections.solved(self._sections.plain(entry))
        calls = [
            (solved.body.blocks[node[0]].last.call, node, edge)
            for node, edges in solved.edges.items()
            for edge in edges
            if edge.called is not None
        ]
        starts = {edge.target for call, _, edge in calls if call == begin}
        ends = {node for call, node, _ in calls if call == end}
        ways = [self._between(solved, start, ends) for start in starts]
        marks = [self._of(edge) for call, _, edge in calls if call in (begin, end)]
        most = [count for by_end, _ in ways for count in by_end.values()]
        if not most:
            raise NoBoundError(f"No way through {solved.body.name} leads from one mark to the other.")
        called = frozenset(function for _, functions in (*ways, *marks) for function in functions)
        # The call of the begin marker; that of the end marker is the last of the way.
        return Count(1 + max(most) + sum(sorted(count for count, _ in marks)[-2:]), called)

    def _of(self, edge: Edge) -> Count:
        """What is called on the way to where an edge leads. Raises NoBoundError."""
        assert edge.called is not None
        if edge.called.why_not:
            raise NoBoundError(edge.called.why_not)
        called = self._function(edge.called)
        if edge.target[1] not in called.by_masks:
            raise NoBoundError(f"No way through {self._sections.solved(edge.called).body.name} was found.")
        return Count(called.by_masks[edge.target[1]], called.functions)

    def _function(self, called: Called) -> _Function:
        solved = self._sections.solved(called)
        key = id(solved)
        if key not in self._known:
            if key in self._under_way:
                raise NoBoundError(f"{solved.body.name} calls itself.")
            self._under_way.add(key)
            try:
                returns = {edge.target for edges in solved.edges.values() for edge in edges}
                by_end, functions = self._between(
                    solved, solved.start, {node for node in returns if node[0] == RETURN}
                )
            finally:
                self._under_way.discard(key)
            by_masks = {node[1]: count for node, count in by_end.items()}
            self._known[key] = _Function(by_masks, functions | {solved.body.entry})
        return self._known[key]

    def _between(
        self, solved: Solved, start: Node, ends: set[Node]
    ) -> tuple[dict[Node, int], frozenset[int]]:
        """The most instructions from a node to each of `ends`, which it does not pass, and the
        entries of the functions that are called on the way. Raises NoBoundError.
        """
        after = {node: [] if node in ends else edges for node, edges in solved.edges.items()}
        alive = reaching(ends, {node: [(edge.target, 0) for edge in edges] for node, edges in after.items()})
        successors: dict[Node, list[tuple[Node, int]]] = {}
        functions: set[int] = set()
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node in successors or node not in alive:
                continue
            successors[node] = []
            for edge in after.get(node, ()):
                if edge.target not in alive:
                    continue
                within, called = (0, frozenset()) if edge.called is None else self._of(edge)
                functions |= called
                successors[node].append((edge.target, within))
                waiting.append(edge.target)
        blocks = solved.body.blocks
        cost = {node: len(blocks[node[0]].instructions) if node[0] in blocks else 0 for node in successors}

        def laps(head: Node, inner: set[Node]) -> int:
            return self._sections.laps(solved, head, inner)

        ways = longest_ways(start, ends & cost.keys(), successors, cost, laps)
        return {node: way.cost for node, way in ways.items()}, frozenset(functions)
