"""The cycles of the blocks of functions, and the lines of the flash that the caches keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from analysis.bounds.caches import COLD, UNKNOWN, Hot, Kept, Lines, cached
from analysis.bounds.costs import Costs
from analysis.bounds.flow import NOWHERE, Called, Flow, Node, Solved
from analysis.bounds.pipeline import Cycles, Pipeline
from analysis.errors import NoBoundError
from analysis.explain.program import Program


class Timed:
    """What blocks cost, worked out once. `solve` gives what holds in a function that is called."""

    def __init__(self, program: Program, flow: Flow, costs: Costs, solve: Callable[[Called], Solved]) -> None:
        self._program = program
        self._flow = flow
        self._costs = costs
        self._solve = solve
        self._cycles: dict[tuple[int, Hot], Cycles] = {}
        self._footprints: dict[int, Lines] = {}

    def cycles(self, solved: Solved, hot: Hot) -> Cycles:
        key = (id(solved), hot)
        if key not in self._cycles:
            costs = replace(self._costs, hot_code=hot.code, hot_data=hot.data)
            self._cycles[key] = Pipeline(self._flow, costs).cycles(solved)
        return self._cycles[key]

    def cached(self, solved: Solved, kind: str, hot: Hot) -> Kept:
        """Which lines stay in the caches in the loops of a function, where a mask is set."""
        if self._costs.certain or (hot.code >= self._costs.code_cache and hot.data >= self._costs.data_cache):
            return Kept(dict.fromkeys(solved.states, hot), {}, {})
        held = {node for node in solved.states if node[1].holds(kind)}
        after = {
            node: [edge.target for edge in solved.edges[node] if edge.target in held] if node in held else []
            for node in solved.states
        }
        return cached(after, lambda node: self._lines_of(solved, node), self._costs, hot)

    def _lines_of(self, solved: Solved, node: Node) -> Lines:
        """The lines that a node reads, with those of what it calls."""
        lines = self.cycles(solved, COLD).lines.get(node, UNKNOWN)
        for edge in solved.edges[node]:
            if edge.called is not None and edge.target[0] != NOWHERE:
                lines |= self._lines_of_call(edge.called)
        return lines

    def _lines_of_call(self, called: Called) -> Lines:
        if called.why_not or self._program.function_at(called.entry) is None:
            return UNKNOWN
        try:
            return self.all_lines(self._solve(called._replace(arguments=(None,) * 4)))
        except NoBoundError:
            return UNKNOWN

    def all_lines(self, solved: Solved) -> Lines:
        """The lines that a function reads, with those of what it calls."""
        if id(solved) not in self._footprints:
            self._footprints[id(solved)] = UNKNOWN  # if it calls itself
            lines = Lines()
            for node in solved.states:
                lines |= self._lines_of(solved, node)
            self._footprints[id(solved)] = lines
        return self._footprints[id(solved)]
