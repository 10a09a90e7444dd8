"""How often each loop goes round: as stated, by the code, by its source.

A loop that counts is seen by one lap with names for what the registers held at its head: a register
that comes back as its own name plus 4 moves by 4 a lap. From what it held at first, and from the
comparison that every lap passes, the number of laps follows. Of any other loop the laps are gone
through one by one, with ranges of values, until no further lap is possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from analysis.bounds.effects import SIZES, flags_of
from analysis.bounds.flow import Body, Flow, Node, Solved
from analysis.bounds.graph import INVERSE, SP
from analysis.bounds.longest import reached
from analysis.bounds.state import MIRRORED, SIGNED, Slot, State, covers, merge
from analysis.bounds.values import (
    SIGN,
    STACK,
    WORD,
    Value,
    minus,
    number,
    plus,
    signed,
    unsigned,
)

_MOST_IN_VAIN = 4
"""The laps of a loop that nothing limited so often, by other calls, are not gone through again."""
_MOST_LAPS = 1 << 28
"""What counts further than this has not been understood."""
_MOST_STEPS = 1500
"""Nodes that are gone through, lap by lap."""
OF_A_LENGTH = ("memcpy", "memmove", "memset")
"""Functions of the C library whose loops go by their third argument."""
_LENGTH = 2
"""The register of that argument (AAPCS, 6.4)."""
_LONGEST_BYTES = 1 << 20


@dataclass
class Stated:
    """What the user says: how often a loop goes round, and where calls through pointers go.

    `passes` takes the name of a function and the source lines of a loop in it, and gives how often
    its head is passed at the most, None if nothing is said of it. `hints` takes the addresses of
    its code, too, and gives how often its body runs, or what would tell it, in words; it is asked
    only where the code itself does not limit the loop. `copied` takes the address of a call of
    memcpy() or its like, and gives the most bytes, None if nothing is said of them. `called` takes
    the address of a call, and gives the entries of functions. No path leads on from a call of one
    of `untaken`. The branches of the source lines `never`, as `file.c:12`, are not taken.
    `recursions` has how often functions that call themselves run, for each call from elsewhere.
    """

    passes: Callable[[str, set[str]], int | None] = lambda _function, _lines: None
    hints: Callable[[str, set[str], Sequence[int]], int | str | None] = lambda _function, _lines, _code: None
    called: Callable[[int], Iterable[int]] = lambda _address: ()
    copied: Callable[[int], int | None] = lambda _address: None
    untaken: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    recursions: Mapping[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Loops:
    """The loops of a program, each asked for once."""

    flow: Flow
    stated: Stated
    _known: dict[tuple[Solved, Node, frozenset[Node]], int | str] = field(default_factory=dict)
    _in_vain: Counter[int] = field(default_factory=Counter)
    """How often nothing limited a loop, by the address of its head."""

    def passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        """How often the head of a loop is passed, or why that is not known."""
        key = (solved, head, frozenset(inner))
        if key not in self._known:
            self._known[key] = self._passes(solved, head, inner)
        return self._known[key]

    def _passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        blocks, program = solved.body.blocks, self.flow.program
        addresses = [code.address for node in inner for code in blocks[node[0]].instructions]
        lines = {line for line in map(program.source_line, addresses) if line}
        passes = self.stated.passes(solved.body.name, lines)
        if passes is not None:
            return passes
        of_code = _written(solved, head, inner), self._by_code(solved, head, inner)
        limits = [limit for limit in of_code if limit is not None]
        if limits:
            return min(limits)
        hint = self.stated.hints(solved.body.name, lines, addresses)
        if isinstance(hint, int):
            # After the last lap the condition may be looked at once more.
            return hint + 1
        place = program.source_line(head[0]) or program.place(head[0])
        return f"The loop at {place} in {solved.body.name}: {hint or 'nothing in the code limits it'}."

    def _by_code(self, solved: Solved, head: Node, inner: set[Node]) -> int | None:
        """How often `head` is passed each time the loop of the nodes `inner` is entered; None if
        that cannot be seen.
        """
        first = _at_entry(solved, head, inner)
        if first is None:
            return None
        passes = _counted(self.flow, solved, head, inner, first)
        if passes is None and self._in_vain[head[0]] < _MOST_IN_VAIN:
            laps = _unrolled(self.flow, solved, head, inner, first)
            passes = len(laps) if laps else self._within(solved, head, inner)
            self._in_vain[head[0]] += passes is None
        return passes

    def _within(self, solved: Solved, head: Node, inner: set[Node]) -> int | None:
        """The same from each lap of the loop around it, which may count for this one."""
        around = [(it, nodes) for of, it, nodes in self._known if of is solved and inner < nodes]
        if not around:
            return None
        outer, nodes = min(around, key=lambda loop: len(loop[1]))
        first = _at_entry(solved, outer, set(nodes))
        laps = _unrolled(self.flow, solved, outer, set(nodes), first) if first else None
        passes = []
        for states in (lap for lap in laps or () if head in lap):
            edges = {node: list(self.flow.edges(solved.body, node, held)) for node, held in states.items()}
            passes.append(self._by_code(replace(solved, states=states, edges=edges), head, inner))
        counts = [count for count in passes if count is not None]
        return max(counts) if counts and len(counts) == len(passes) else None


def _written(solved: Solved, head: Node, inner: set[Node]) -> int | None:
    """How often the head of a loop of memcpy(), memmove() or memset() is passed: these write each
    byte once, and each lap writes some. None of another loop, or where the length is not known.
    """
    if solved.body.name not in OF_A_LENGTH:
        return None
    most = unsigned(solved.begin.registers[_LENGTH])[1]
    after = {node: [edge.target for edge in solved.edges[node]] for node in inner}
    codes = (code for node in _each_lap(head, after) for code in solved.body.blocks[node[0]].instructions)
    # The bytes that they always write.
    stored = sum(
        code.words * SIZES.get(code.name, 4 * code.name.startswith(("stm", "vst")))
        for code in codes
        if code.stores and not code.condition
    )
    return most // stored + 1 if stored and most < _LONGEST_BYTES else None


# What the code tells.


def _at_entry(solved: Solved, head: Node, inner: set[Node]) -> State | None:
    """What holds at the head when the loop is entered."""
    states = [solved.begin] if head == solved.start else []
    states += [edge.state for node, edge in solved.ways if edge.target == head and node not in inner]
    return reduce(merge, states) if states else None


def _counted(flow: Flow, solved: Solved, head: Node, inner: set[Node], first: State) -> int | None:
    names, state = _named(solved.states[head])
    lap, back = flow.states(solved.body, head, state, inner)
    if back is None:
        return 1
    after = {
        node: [edge.target for edge in flow.edges(solved.body, node, held)] for node, held in lap.items()
    }
    # The comparisons that each lap passes, and at which it may end.
    counts = [
        laps + 1
        for node in _each_lap(head, after)
        for test in _test(flow, solved.body, node, inner, lap[node])
        if (laps := _laps(*test, names, first, back)) is not None and laps < _MOST_LAPS
    ]
    return min(counts, default=None)


Names = dict[str, int | Slot]


def _named(state: State) -> tuple[Names, State]:
    """The state with a name for each value, but the stack pointer's."""
    names: Names = {}
    after = state.copy()
    for register in range(len(after.registers)):
        value = after.registers[register]
        if register != SP or value is None or value[0] != STACK:
            names[f"={register}"] = register
            after.registers[register] = (f"={register}", 0, 0)
    for slot in after.slots:
        held = after.slots[slot]
        if held is None or held[0] != STACK:
            name = f"={slot[0]}.{slot[1]}"
            names[name] = slot
            after.slots[slot] = (name, 0, 0)
    for register, slot in after.copies.items():
        after.registers[register] = after.slots[slot]
    after.flags = None
    return names, after


def _test(
    flow: Flow, body: Body, node: Node, inner: set[Node], state: State
) -> Iterator[tuple[Value, Value, str]]:
    """A lap goes on while the one value stands to the other as the condition says."""
    block = body.blocks[node[0]]
    last = block.last
    stays = {taken for target, taken in block.after if (target, node[1]) in inner}
    leaves = {taken for target, taken in block.after if (target, node[1]) not in inner}
    if block.ends and last.condition:
        leaves.add(True)
    if len(stays) != 1 or not leaves or stays & leaves:
        return
    goes_on = stays.pop()
    *_, (_, at_end, _) = flow.along(block, node, state)
    flags = flags_of(last, at_end)
    if not last.condition or flags is None:
        return
    condition = last.condition if goes_on else INVERSE[last.condition]
    # Of numbers that lie far apart the difference has another sign than the comparison says.
    is_result = (flags.left is None and flags.right is None) or condition in ("mi", "pl")
    if condition in ("mi", "pl"):
        condition = "lt" if condition == "mi" else "ge"
    elif is_result and condition not in ("eq", "ne"):
        return
    if condition in MIRRORED:
        yield *((flags.result, number(0)) if is_result else (flags.left, flags.right)), condition


def _each_lap(head: Node, successors: dict[Node, list[Node]]) -> Iterator[Node]:
    """The nodes of a loop that no way from the head back to it leaves out."""

    def is_on_each(node: Node) -> bool:
        passed = successors.keys() - {node, head}
        around = reached([head], lambda at: passed.intersection(successors[at]))
        return node == head or all(head not in successors[at] for at in around)

    return filter(is_on_each, successors)


def _laps(left: Value, right: Value, condition: str, names: Names, first: State, back: State) -> int | None:
    """How often the test lets a lap go on, at most; None if it does not limit them."""
    moves, other = _moves(left, names, back), _moves(right, names, back)
    if moves is None or other is None:
        return None
    if other != (0, 0):
        left, right, condition, moves, other = right, left, MIRRORED[condition], other, moves
    if other != (0, 0):
        return None
    start, limit = _first(left, names, first), _first(right, names, first)
    if condition in ("eq", "ne"):
        return _until_equal(condition, minus(start, limit), moves)
    return _until_past(condition, start, limit, moves)


def _moves(value: Value, names: Names, back: State) -> tuple[int, int] | None:
    """By how much a value changes from lap to lap."""
    if value is None:
        return None
    if not value[0] or value[0] == STACK:
        return (0, 0) if value[1] == value[2] else None
    if value[0] not in names:
        return None
    after = back.at(names[value[0]])
    if after is None or after[0] != value[0] or value[1] != value[2]:
        return None
    return after[1:]


def _first(value: Value, names: Names, first: State) -> Value:
    """What a value is in the first lap."""
    if value is None or value[0] not in names:
        return value
    return plus(first.at(names[value[0]]), number(*value[1:]))


def _until_equal(condition: str, apart: Value, moves: tuple[int, int]) -> int | None:
    low, high = moves
    if condition == "eq":
        return 1 if low > 0 or high < 0 else None
    if low != high or low == 0 or apart is None or apart[0]:
        return None
    if low > 0:
        apart = minus(number(0), apart)
    least, most = unsigned(apart)
    step = abs(low)
    # Of another step it may step over.
    return most // step if step == 1 or (least == most and most % step == 0) else None


def _until_past(condition: str, start: Value, limit: Value, moves: tuple[int, int]) -> int | None:
    """Laps until the one value has passed the other, without an overflow on the way."""
    if start is None or limit is None:
        return None
    if start[0] and start[0] == limit[0]:
        apart = minus(start, limit)
        if apart is None:
            return None
        (low, high), (least, most) = signed(apart), (0, 0)
        bottom, top = -WORD, WORD
    elif start[0] or limit[0]:
        return None
    else:
        view = signed if condition in SIGNED else unsigned
        (low, high), (least, most) = view(start), view(limit)
        bottom, top = (-SIGN, SIGN - 1) if condition in SIGNED else (0, WORD - 1)
    slow, fast = moves
    if condition in ("hi", "gt", "hs", "ge"):
        # Downwards is upwards with all signs changed.
        low, most, slow, fast, top = -high, -least, -fast, -slow, -bottom
    also = condition in ("ls", "le", "hs", "ge")
    if slow <= 0 or most - 1 + also + fast > top:
        return None
    return max(0, -(-(most + also - low) // slow))


def _unrolled(
    flow: Flow, solved: Solved, head: Node, inner: set[Node], first: State
) -> list[dict[Node, State]] | None:
    """The laps of a loop one by one: what holds at the nodes of each; None if they do not come to
    an end.
    """
    name, begun = f"j{head[0]:x}", flow.passed
    state, laps = first.copy(), list[dict[Node, State]]()
    state.named(name)
    while flow.passed - begun < _MOST_STEPS:
        states, back = flow.states(solved.body, head, state, inner)
        laps.append(states)
        if back is None:
            return laps
        back = back.copy()
        back.named(name)
        if covers(state, back) and covers(back, state):
            # One that says more may lead to the loop's end.
            return None
        state = back
    return None
