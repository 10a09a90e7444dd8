"""How often each loop goes round: as stated, by the code, by its source, as seen."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from analysis.bounds.calls import OF_A_LENGTH
from analysis.bounds.flow import Edge, Flow, Node, Solved
from analysis.bounds.longest import Lap, Passes, components, is_loop, reached
from analysis.bounds.statements import Hint, Stated
from analysis.bounds.trips import OneLap, is_on_each_lap, unrolled
from analysis.bounds.trips import passes as of_loop
from analysis.bounds.values import unsigned
from analysis.errors import NoBoundError
from analysis.explain.program import Program

_MOST_IN_VAIN = 4
"""The laps of a loop that nothing limited so often, by other calls, are not gone through again."""


@dataclass(eq=False)
class Rounds:
    """The loops of a program, each asked for once."""

    program: Program
    flow: Flow
    stated: Stated
    _known: dict[tuple[int, Node, frozenset[Node]], tuple[Solved, int | str]] = field(default_factory=dict)
    _in_vain: Counter[int] = field(default_factory=Counter)
    """How often nothing limited a loop, by the address of its head."""

    def passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        """How often the head of a loop is passed, or why that is not known."""
        key = (id(solved), head, frozenset(inner))
        if key not in self._known:
            self._known[key] = (solved, self._passes(solved, head, inner))
        return self._known[key][1]

    def _passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        blocks = solved.body.blocks
        addresses = [code.address for node in inner for code in blocks[node[0]].instructions]
        lines = {line for line in map(self.program.source_line, addresses) if line}
        passes = self.stated.passes(solved.body.name, lines)
        if passes is not None:
            return passes
        written = _written(solved, head, inner)
        try:
            counted = of_loop(self.flow, solved, head, inner, self._in_vain[head[0]] < _MOST_IN_VAIN)
            return counted if written is None else min(counted, written)
        except NoBoundError as error:
            if written is not None:
                return written
            self._in_vain[head[0]] += 1
            hint = self.stated.hints(solved.body.name, lines, addresses)
            if isinstance(hint, Hint):
                # After the last lap the condition is looked at once more, if it stands before the
                # body.
                return hint.at_most + (not self._runs_the_body(solved, head, inner, hint.body))
            place = self.program.source_line(head[0]) or self.program.place(head[0])
            return f"The loop at {place} in {solved.body.name}: {hint or error}."

    def _runs_the_body(self, solved: Solved, head: Node, inner: set[Node], lines: frozenset[str]) -> bool:
        """Whether no way leads from the head of a loop out of it, or back, that does not do what
        only the body does: a store, a call or a choice, which no compiler does ahead of the loop's
        condition.
        """

        def does(node: Node) -> bool:
            block = solved.body.blocks[node[0]]
            chooses = len(block.after) > 1 and all((target, node[1]) in inner for target, _ in block.after)
            return any(
                (code.stores or code.call is not None or (chooses and code is block.last))
                and not code.conditional
                and self.program.source_line(code.address) in lines
                for code in block.instructions
            )

        def after(node: Node) -> list[Node]:
            return [] if does(node) else [edge.target for edge in solved.edges.get(node, ())]

        passed = inner - {head}
        nodes = reached([head], lambda node: (it for it in after(node) if it in passed))
        return all(it in passed for node in nodes for it in after(node))


_LENGTH = 2
"""The register of the length of memcpy() and its like (AAPCS, 6.4)."""
_LONGEST_BYTES = 1 << 20
_STORED_BYTES = {"str": 4, "strh": 2, "strb": 1, "strd": 8, "vstr": 4, "strt": 4}


def _written(solved: Solved, head: Node, inner: set[Node]) -> int | None:
    """How often the head of a loop of memcpy(), memmove() or memset() is passed: these write each
    byte once, and each lap writes some. None of another loop, or where the length is not known.
    """
    if solved.body.name not in OF_A_LENGTH:
        return None
    most = unsigned(solved.begin.registers[_LENGTH])[1]
    after = {node: [edge.target for edge in solved.edges[node]] for node in inner}
    each_lap = [node for node in inner if is_on_each_lap(node, head, inner, after)]
    codes = [code for node in each_lap for code in solved.body.blocks[node[0]].instructions]
    # The bytes that they always write.
    stored = sum(
        4 * (len(code.operands) - 1) if code.name.startswith("stm") else _STORED_BYTES.get(code.name, 0)
        for code in codes
        if not code.condition
    )
    return most // stored + 1 if stored and most < _LONGEST_BYTES else None


# What the laps of a loop can do, where they differ: each with the graph that is left of it.
#
# A loop inside may go round as often as the outer one counts, and a branch may be taken in the
# first
# lap alone. So the laps are gone through one by one, as far as it is worth it, and the longest path
# goes through each as it is. A loop of which all laps are alike is a number.


_MOST_STEPS_OF_A_LOOP = 20_000
_MOST_STEPS = 60_000
"""So many nodes are gone through lap by lap, of one loop, and in all."""
_MOST_STEPS_IN_NEED = 90_000
"""The same in all for loops that have no bound else."""

_TRIED = 4
"""If so many laps are like any, it is presumed that the others are, too."""

_Rounds = Callable[[Node, set[Node]], "int | Sequence[Lap[Node]] | str"]
"""As longest.Passes, or why it is not known how often the loop goes round."""


class Part(Protocol):
    """Blocks of a function with their costs and the ways between them."""

    solved: Solved
    successors: dict[Node, list[tuple[Node, int]]]
    cost: dict[Node, int]


@dataclass
class Spent:
    """How many nodes of a program were gone through lap by lap so far, and the laps. It may take
    the `share` of what is allowed.
    """

    share: float = 1.0
    steps: int = 0
    _known: dict[tuple[Any, ...], tuple[Solved, list[OneLap], Iterator[OneLap]]] = field(default_factory=dict)

    def laps(
        self, flow: Flow, solved: Solved, head: Node, inner: set[Node], most: int | None
    ) -> Iterator[OneLap]:
        """The laps of a loop one by one, gone through when they are asked for, and once."""
        key = (id(solved), head, frozenset(inner), most)
        if key not in self._known:
            self._known[key] = (solved, [], unrolled(flow, solved, head, inner, most))
        _, one_laps, following = self._known[key]
        for number in itertools.count():
            if number == len(one_laps):
                lap = next(following, None)
                if lap is None:
                    return
                one_laps.append(lap)
            yield one_laps[number]


@dataclass(eq=False)
class Laps:
    """The laps of loops. `bound` says how often a head is passed, or why that is not known;
    `priced` gives the ways and costs of one lap, None if some of it has no bound.
    """

    flow: Flow
    bound: Callable[[Solved, Node, set[Node]], int | str]
    priced: Callable[[Solved], Part | None]
    spent: Spent
    unlimited: dict[Node, str] = field(default_factory=dict)
    """The heads of loops without a bound, with why."""
    _seen_through: list[set[Node]] = field(default_factory=list)
    """Of the loops that `passes` was asked for, the nodes of each of which all laps were gone
    through."""
    _others: set[Node] = field(default_factory=set)
    """The nodes of all others."""

    def passes(self, part: Part) -> Passes[Node]:
        """How the loops of a part go round. One without a bound is passed once, and kept in
        `unlimited`.
        """
        return self._sure(self._of(part, None))

    def begin(self) -> None:
        """Forgets what was asked for."""
        self._seen_through.clear()
        self._others.clear()

    def saw_through(self, before: Node, after: Node) -> bool:
        """Whether no path goes from one node to the other but in laps that were gone through."""
        both = {before, after}
        return not both & self._others and any(both <= nodes for nodes in self._seen_through)

    def _sure(self, rounds: _Rounds) -> Passes[Node]:
        def laps_of(head: Node, inner: set[Node]) -> int | Sequence[Lap[Node]]:
            laps = rounds(head, inner)
            if isinstance(laps, str):
                self.unlimited[head] = laps
                return 1
            return laps

        return laps_of

    def _of(self, part: Part, instead: _Rounds | None) -> _Rounds:
        """The same, with why it is not known; `instead` is asked then."""
        memo: dict[tuple[Node, frozenset[Node]], int | Sequence[Lap[Node]] | str] = {}

        def rounds(head: Node, inner: set[Node]) -> int | Sequence[Lap[Node]] | str:
            key = (head, frozenset(inner))
            if key not in memo:
                laps = self._rounds(part, head, inner, rounds)
                memo[key] = instead(head, inner) if isinstance(laps, str) and instead else laps
            if instead is None:
                remembered = memo[key]
                whole = not isinstance(remembered, int | str) and all(
                    lap.cost is not part.cost for lap in remembered
                )
                if whole:
                    self._seen_through.append(inner)
                else:
                    self._others |= inner
            return memo[key]

        return rounds

    def _rounds(
        self, part: Part, head: Node, inner: set[Node], general: _Rounds
    ) -> int | Sequence[Lap[Node]] | str:
        before, spent = self.flow.followed, self.spent.steps
        most = self.bound(part.solved, head, inner)
        within = _within(part, head, inner)
        edges: Mapping[Node, list[Edge]] = part.solved.edges
        # A lap may be another than the one before if it has a loop, a branch, or a call.
        may_differ = (
            any(len(following) > 1 for following in within.values())
            or any(edge.called is not None for node in inner for edge in edges.get(node, ()))
            or any(is_loop(component, within) for component in components(head, within))
        )
        if spent >= self._allowed(most) or not may_differ:
            return most
        laps = self._one_by_one(part, head, inner, most, general)
        # What was gone through for this and within it is counted once.
        self.spent.steps = spent + self.flow.followed - before
        return most if laps is None else laps

    def _one_by_one(
        self, part: Part, head: Node, inner: set[Node], most: int | str, general: _Rounds
    ) -> list[Lap[Node]] | None:
        """The laps; None if they do not come to an end. Of those that are not gone through any more
        no more is said than of all.
        """
        limit = most if isinstance(most, int) else None
        alike = Lap(0, part.successors, part.cost, self._sure(general))
        laps: list[Lap[Node]] = []
        done = 0
        differ = False
        usual: dict[Node, int | str] = {}
        before = self.flow.followed
        for times, solved in self.spent.laps(self.flow, part.solved, head, inner, limit):
            if times == 0:
                return None
            own = self.priced(solved)
            if own is None:
                return None
            if limit is not None and len(laps) < _TRIED and not differ:
                # It has other ways than the loop, or loops in it go round as often as not.
                differ = _ways(own, inner) != _ways(part, inner)
                for inside, nodes in () if differ else _loops_in(part, head, inner):
                    if inside not in usual:
                        usual[inside] = self.bound(part.solved, inside, nodes)
                    if self.bound(own.solved, inside, nodes) != usual[inside]:
                        differ = True
                        break
            ways = self._sure(self._of(own, general))
            laps.append(Lap(times, own.successors, own.cost, ways, own))
            done += times
            if len(laps) == _TRIED and limit is not None and not differ:
                return None
            steps = self.flow.followed - before
            if steps > _MOST_STEPS_OF_A_LOOP or self.spent.steps + steps > self._allowed(most):
                return None if limit is None else [*laps, alike._replace(times=limit - done)]
        return laps or None

    def _allowed(self, most: int | str) -> float:
        return self.spent.share * (_MOST_STEPS if isinstance(most, int) else _MOST_STEPS_IN_NEED)


def _ways(part: Part, inner: set[Node]) -> set[tuple[Node, Node, int]]:
    """The ways between the nodes of a loop, with their costs."""
    return {(u, v, w) for u in inner for v, w in part.successors.get(u, ()) if v in inner}


def _within(part: Part, head: Node, inner: set[Node]) -> dict[Node, list[tuple[Node, int]]]:
    """The same by the node where they begin, without those back to the head."""
    return {node: [(v, w) for v, w in part.successors.get(node, ()) if v in inner - {head}] for node in inner}


def _loops_in(part: Part, head: Node, inner: set[Node]) -> Iterator[tuple[Node, set[Node]]]:
    """The loops inside a loop, by their heads, and those in them."""
    within = _within(part, head, inner)
    for component in components(head, within):
        if not is_loop(component, within):
            continue
        nodes = set(component)
        for node in component:
            if any(v == node for u in inner - nodes for v, _ in within[u]):
                yield node, nodes
                yield from _loops_in(part, node, nodes)
                break
