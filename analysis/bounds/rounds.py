"""How often each loop goes round: as stated, by the code, by its source, as seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from analysis.bounds.contexts import OF_A_LENGTH
from analysis.bounds.flow import Body, Flow, Node, Solved
from analysis.bounds.lift import Operation
from analysis.bounds.statements import Stated
from analysis.bounds.trips import is_on_each_lap
from analysis.bounds.trips import passes as of_loop
from analysis.bounds.values import unsigned
from analysis.errors import NoBoundError
from analysis.explain.program import Program

_MOST_IN_VAIN = 4
"""The laps of a loop that nothing limited so often, by other calls, are not gone through again."""


@dataclass
class Unlimited:
    """A loop of the function `body` of which nothing says how often it goes round: its head, the
    blocks `inside`, by address, and where it is in words. `why` is what is told of it.
    """

    body: Body
    head: int
    inside: set[int]
    place: str
    why: str


class Rounds:
    """The loops of a program, each asked for once. `unlimited` has those that nothing limits."""

    def __init__(self, program: Program, flow: Flow, statements: Stated) -> None:
        self._program = program
        self._flow = flow
        self._stated = statements
        self._known: dict[tuple[int, Node, frozenset[Node]], tuple[Solved, int | str]] = {}
        # How often nothing limited a loop, by the address of its head.
        self._in_vain: Counter[int] = Counter()
        self.unlimited: dict[int, Unlimited] = {}

    def forget(self, statements: Stated) -> None:
        """Forgets how often loops go round, for what is stated now."""
        self._stated = statements
        self._known, self._in_vain = {}, Counter()

    def passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        """How often the head of a loop is passed, or why that is not known."""
        key = (id(solved), head, frozenset(inner))
        if key not in self._known:
            self._known[key] = (solved, self._passes(solved, head, inner))
        return self._known[key][1]

    def _passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        blocks = solved.body.blocks
        addresses = [code.address for node in inner for code in blocks[node[0]].instructions]
        lines = {line for line in map(self._program.source_line, addresses) if line}
        passes = self._stated.passes(solved.body.name, lines)
        if passes is not None:
            return passes
        written = _written(solved, head, inner)
        try:
            counted = of_loop(self._flow, solved, head, inner, self._in_vain[head[0]] < _MOST_IN_VAIN)
            return counted if written is None else min(counted, written)
        except NoBoundError as error:
            if written is not None:
                return written
            self._in_vain[head[0]] += 1
            hint = self._stated.hints(solved.body.name, lines, addresses)
            if hint is None or isinstance(hint, str):
                return self._unlimited(solved, head, inner, hint or str(error))
            # After the last lap the condition is looked at once more, if it stands before the body.
            return hint.at_most + (not self._runs_the_body(solved, head, inner, hint.body))

    def _runs_the_body(self, solved: Solved, head: Node, inner: set[Node], lines: frozenset[str]) -> bool:
        """Whether no way leads from the head of a loop out of it, or back, that does not do what
        only the body does: a store, a call or a choice, which no compiler does ahead of the loop's
        condition.
        """
        seen, waiting = {head}, [head]
        while waiting:
            node = waiting.pop()
            edges = solved.edges.get(node, ())
            if self._is_of_the_body(solved, node, inner, lines):
                continue
            for edge in edges:
                if edge.target not in inner or edge.target == head:
                    return False
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return True

    def _is_of_the_body(self, solved: Solved, node: Node, inner: set[Node], lines: frozenset[str]) -> bool:
        block = solved.body.blocks[node[0]]
        chooses = len(block.after) > 1 and all((target, node[1]) in inner for target, _ in block.after)
        for code, operation in zip(block.instructions, block.operations, strict=True):
            does = operation.stores or code.call is not None or (chooses and code is block.last)
            if does and not code.conditional and self._program.source_line(code.address) in lines:
                return True
        return False

    def _unlimited(self, solved: Solved, head: Node, inner: set[Node], error: str) -> int | str:
        """Keeps a loop of which nothing is known but perhaps what was observed; as _laps()."""
        place = self._named(head[0])
        why = f"The loop at {place} in {solved.body.name}: {error}."
        loop = self.unlimited.setdefault(head[0], Unlimited(solved.body, head[0], set(), place, why))
        loop.inside |= {node[0] for node in inner}
        observed = self._stated.observed(head[0])
        return why if observed is None else observed

    def _named(self, address: int) -> str:
        return self._program.source_line(address) or self._program.place(address)


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
    stored = sum(
        _stored(operation) for node in each_lap for operation in solved.body.blocks[node[0]].operations
    )
    return most // stored + 1 if stored and most < _LONGEST_BYTES else None


def _stored(operation: Operation) -> int:
    """The bytes that an instruction always writes."""
    if operation.condition:
        return 0
    if operation.name.startswith("stm"):
        return 4 * (len(operation.operands) - 1)
    return _STORED_BYTES.get(operation.name, 0)
