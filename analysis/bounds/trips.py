"""How often a loop goes round at the most, from its machine code.

A loop that counts is seen by one lap with names for what the registers held at its head: a register
that comes back as its own name plus 4 moves by 4 a lap. From what it held at first, and from the
comparison that every lap passes, the number of laps follows. Of any other loop the laps are gone
through one by one, with ranges of values, until no further lap is possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analysis.bounds.flow import Body, Flow, Node, Solved
from analysis.bounds.graph import INVERSE, SP
from analysis.bounds.longest import reached
from analysis.bounds.state import Slot, State, covers, merge
from analysis.bounds.values import SIGN, STACK, WORD, Value, minus, number, plus, relative, signed, unsigned
from analysis.errors import NoBoundError

_MOST_LAPS = 1 << 28
"""What counts further than this has not been understood."""
_MOST_STEPS = 1000
"""Nodes that are gone through, lap by lap."""
_MIRRORED = {
    "lo": "hi", "hi": "lo", "ls": "hs", "hs": "ls", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le",
    "eq": "eq", "ne": "ne",
}  # fmt: skip
_SIGNED = {"lt", "le", "gt", "ge"}


class _Test(NamedTuple):
    """A lap goes on while `left` stands to `right` as the condition says."""

    left: Value
    right: Value
    condition: str


def passes(flow: Flow, solved: Solved, head: Node, inner: set[Node], walks: bool = True) -> int:
    """How often `head` is passed each time the loop of the nodes `inner` is entered. `walks`: the
    laps may be gone through one by one. Raises NoBoundError if that cannot be seen.
    """
    first = _at_entry(solved, head, inner)
    if first is not None:
        counted = _counted(flow, solved, head, inner, first)
        if counted is not None:
            return counted
        walked = _walked(flow, solved.body, head, inner, first) if walks else None
        if walked is not None:
            return walked
    raise NoBoundError("nothing in the code limits it")


def _at_entry(solved: Solved, head: Node, inner: set[Node]) -> State | None:
    """What holds at the head when the loop is entered."""
    state: State | None = None
    if head == solved.start:
        state = solved.begin.copy()
    for node, edges in solved.edges.items():
        if node in inner:
            continue
        for edge in edges:
            if edge.target == head:
                state = edge.state if state is None else merge(state, edge.state, False)
    return state


def _counted(flow: Flow, solved: Solved, head: Node, inner: set[Node], first: State) -> int | None:
    names, state = _named(solved.states[head])
    lap, back = flow.states(solved.body, {head: state}, inner, head)
    if back is None:
        return 1
    after = {
        node: [edge.target for edge in flow.edges(solved.body, node, held)] for node, held in lap.items()
    }
    # The comparisons that each lap passes, and at which it may end.
    counts = [
        laps + 1
        for node, held in lap.items()
        if node in inner and is_on_each_lap(node, head, inner, after)
        for test in _test(flow, solved.body, node, inner, held)
        if (laps := _laps(test, names, first, back)) is not None and laps < _MOST_LAPS
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


def _test(flow: Flow, body: Body, node: Node, inner: set[Node], state: State) -> Iterator[_Test]:
    block = body.blocks[node[0]]
    last = block.last
    stays = {taken for target, taken in block.after if (target, node[1]) in inner}
    leaves = {taken for target, taken in block.after if (target, node[1]) not in inner}
    if block.ends and last.condition:
        leaves.add(True)
    if len(stays) != 1 or not leaves or stays & leaves:
        return
    goes_on = stays.pop()
    at_end = flow.at_end(body, node, state)
    if last.name in ("cbz", "cbnz"):
        is_zero = goes_on == (last.name == "cbz")
        yield _Test(at_end.registers[last.operands[0].register or 0], number(0), "eq" if is_zero else "ne")
        return
    flags = at_end.flags
    if not last.condition or flags is None:
        return
    condition = last.condition if goes_on else INVERSE[last.condition]
    if condition in ("mi", "pl"):
        condition = "lt" if condition == "mi" else "ge"
    elif flags.kind == "result" and condition not in ("eq", "ne"):
        return
    if condition in _MIRRORED:
        yield _Test(flags.left, flags.right, condition)


def is_on_each_lap(node: Node, head: Node, inner: set[Node], successors: dict[Node, list[Node]]) -> bool:
    """Whether no way leads from the head back to it that leaves the node out."""
    passed = inner - {node, head}
    around = reached([head], lambda at: (it for it in successors.get(at, ()) if it in passed))
    return node == head or all(head not in successors.get(at, ()) for at in around)


def _laps(test: _Test, names: Names, first: State, back: State) -> int | None:
    """How often the test lets a lap go on, at most; None if it does not limit them."""
    left, right, condition = test
    moves, other = _moves(left, names, back), _moves(right, names, back)
    if moves is None or other is None:
        return None
    if other != (0, 0):
        left, right, condition, moves, other = right, left, _MIRRORED[condition], other, moves
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
    where = names[value[0]]
    after = back.registers[where] if isinstance(where, int) else back.slots.get(where)
    if after is None or after[0] != value[0] or value[1] != value[2]:
        return None
    return after[1:]


def _first(value: Value, names: Names, first: State) -> Value:
    """What a value is in the first lap."""
    if value is None or value[0] not in names:
        return value
    where = names[value[0]]
    held = first.registers[where] if isinstance(where, int) else first.slots.get(where)
    return plus(held, relative("", value[1], value[2]))


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
    if step == 1:
        return most
    return most // step if least == most and most % step == 0 else None


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
        view = signed if condition in _SIGNED else unsigned
        (low, high), (least, most) = view(start), view(limit)
        bottom, top = (-SIGN, SIGN - 1) if condition in _SIGNED else (0, WORD - 1)
    slow, fast = moves
    if condition in ("lo", "lt", "ls", "le"):
        also = int(condition in ("ls", "le"))
        if slow <= 0 or most - 1 + also + fast > top:
            return None
        return max(0, -(-(most + also - low) // slow))
    also = int(condition in ("hs", "ge"))
    if fast >= 0 or least + 1 - also + slow < bottom:
        return None
    return max(0, -(-(high + also - least) // -fast))


def _walked(flow: Flow, body: Body, head: Node, inner: set[Node], first: State) -> int | None:
    """The laps gone through one by one."""
    state, name = first.copy(), f"j{head[0]:x}"
    state.named(name)
    before = flow.followed
    for lap in range(1, max(2, _MOST_STEPS // max(len(inner), 1))):
        _, back = flow.states(body, {head: state}, inner, head)
        if back is None:
            return lap
        back = back.copy()
        back.named(name)
        if _alike(state, back) or flow.followed - before > _MOST_STEPS:
            return None
        state = back
    return None


def _alike(state: State, other: State) -> bool:
    """Whether two states say the same. One that says more may lead to the loop's end."""
    return covers(state, other) and covers(other, state)


class OneLap(NamedTuple):
    """A lap, from the loop's head on to where it comes back or leaves; `times` of the same kind
    follow each other, 0 for any number.
    """

    times: int
    solved: Solved


def unrolled(flow: Flow, solved: Solved, head: Node, inner: set[Node], most: int | None) -> Iterator[OneLap]:
    """The laps of a loop one by one, each with what is known in it. It has at most `most`, if that
    is not None. After the last there are no more.
    """
    state = _at_entry(solved, head, inner)
    name, lap = f"j{head[0]:x}", 0
    if state is None:
        return
    state = state.copy()
    state.named(name)
    while most is None or lap < most:
        states, back = flow.states(solved.body, {head: state}, inner, head)
        edges = {node: list(flow.edges(solved.body, node, held)) for node, held in states.items()}
        alike = False
        if back is not None:
            back = back.copy()
            back.named(name)
            alike = _alike(state, back)
        times = 1 if not alike else 0 if most is None else most - lap
        yield OneLap(times, Solved(solved.body, head, state, states, edges))
        if back is None or alike:
            return
        state, lap = back, lap + 1
