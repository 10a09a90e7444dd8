"""What is known of registers, stack and flags at a point of a function, and what branches add."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

from analysis.bounds.graph import INVERSE, LR, SP
from analysis.bounds.values import (
    SRAM,
    STACK,
    WORD,
    Value,
    between,
    constant,
    contains,
    join,
    minus,
    number,
    signed,
    unsigned,
    widen,
    zeros,
)

REGISTERS = 15
Slot = tuple[int, int]
"""A place in the stack: its offset from the stack pointer at the entry, and its bytes."""
Where = int | Slot | None


@dataclass(frozen=True, slots=True)
class Flags:
    """What the flags were last set by: `result`, of which equality and sign are known; if it is
    `left` less `right`, any condition of the two. Where the values stand is in `left_in` and the
    like.
    """

    result: Value
    result_in: Where = None
    left: Value = None
    right: Value = None
    left_in: Where = None
    right_in: Where = None


@dataclass(slots=True)
class State:
    """Values of r0 to lr, and of the stack's places that were written.

    `copies` says which register holds what stands in a place. Pointers to the stack from `escaped`
    on upward may be known elsewhere. `aligned` has how many of a register's last
    bits are 0, as values.zeros().
    """

    registers: list[Value]
    slots: dict[Slot, Value] = field(default_factory=dict)
    flags: Flags | None = None
    copies: dict[int, Slot] = field(default_factory=dict)
    escaped: float = inf
    aligned: dict[int, int] = field(default_factory=dict)

    def at(self, where: int | Slot) -> Value:
        """What a register or a place holds."""
        return self.registers[where] if isinstance(where, int) else self.slots.get(where)

    def copy(self) -> State:
        return State(
            self.registers.copy(),
            self.slots.copy(),
            self.flags,
            self.copies.copy(),
            self.escaped,
            self.aligned.copy(),
        )

    def zeros(self, register: int) -> int:
        """How many of a register's last bits are known to be 0."""
        return max(zeros(self.registers[register]), self.aligned.get(register, 0))

    def put(self, register: int, value: Value, fresh: str, zeros: int = 0) -> None:
        """Writes a register. `fresh` is a name for the value if nothing is known of it. At least so
        many of its last bits are 0.
        """
        if register >= REGISTERS:
            return
        if value is None:
            value = (fresh, 0, 0)
            self.forget(fresh)
        self.registers[register] = value
        self.aligned.pop(register, None)
        if zeros:
            self.aligned[register] = min(zeros, 2)
        self.copies.pop(register, None)
        self._moved(register)

    def forget(self, base: str) -> None:
        """Whatever was relative to that base is not any more: it has another value now."""
        for register, value in enumerate(self.registers):
            if value is not None and value[0] == base:
                self.registers[register] = None
        for slot in [slot for slot, value in self.slots.items() if value is not None and value[0] == base]:
            del self.slots[slot]
        if self.flags and any(
            it and it[0] == base for it in (self.flags.result, self.flags.left, self.flags.right)
        ):
            self.flags = None

    def _moved(self, where: Where) -> None:
        flags = self.flags
        if flags and where in (flags.left_in, flags.right_in, flags.result_in):
            places = ("left_in", "right_in", "result_in")
            gone: dict[str, Any] = {name: None for name in places if getattr(flags, name) == where}
            self.flags = replace(flags, **gone)

    def store(self, address: Value, size: int, value: Value, register: int = -1) -> None:
        """Writes memory, from a register if one is named. What may be hit and is not known to stay
        is forgotten.
        """
        self.escape(value)
        if address is None or address[0] not in ("", STACK):
            self.clobber()
        elif address[0]:
            self._drop(address[1], address[2] + size)
            if address[1] == address[2]:
                self.slots[address[1], size] = value
                if register >= 0 and size == 4:
                    self.copies[register] = (address[1], size)

    def _drop(self, low: float = -inf, high: float = inf) -> None:
        """Forgets the places in the stack from `low` up to `high`."""
        for slot in [slot for slot in self.slots if slot[0] < high and slot[0] + slot[1] > low]:
            del self.slots[slot]
            self.copies = {register: held for register, held in self.copies.items() if held != slot}
            self._moved(slot)

    def escape(self, value: Value) -> None:
        """A pointer to the stack has become known elsewhere."""
        if value is not None and value[0] == STACK:
            self.escaped = min(self.escaped, value[1])

    def clobber(self) -> None:
        """Something was written, nobody knows where: what others may point to is forgotten."""
        self._drop(self.escaped)

    def called(self, result: Value, fresh: str) -> None:
        """A function was called and came back: AAPCS, 6.1.1, says which registers it keeps."""
        for register in range(4):
            self.escape(self.registers[register])
        self.clobber()
        self.flags = None
        stack = self.registers[SP]
        if stack is not None and stack[0] == STACK:
            self._drop(high=stack[1])
        self.put(0, result, f"{fresh}:0")
        for register in (1, 2, 3, 12, LR):
            self.put(register, None, f"{fresh}:{register}")

    def named(self, place: str) -> None:
        """Gives what is not known a name of this place, so that sums with it can be compared."""
        mine = f"{place}:"
        for register, value in enumerate(self.registers):
            if value is None or value[0].startswith(mine):
                name = f"{mine}{register}"
                values = (*self.registers, *self.slots.values())
                if value == (name, 0, 0) and sum(it is not None and it[0] == name for it in values) == 1:
                    continue
                self.forget(name)
                self.registers[register] = (name, 0, 0)


def entry(arguments: tuple[Value, ...]) -> State:
    """The state at a function's entry: `arguments` are r0 to r3."""
    values = (*arguments, *[None] * (REGISTERS - len(arguments)))
    registers: list[Value] = [value or (f"r{number}", 0, 0) for number, value in enumerate(values)]
    registers[SP] = (STACK, 0, 0)
    return State(registers)


def merge(state: State, other: State, widening: bool = False, limits: tuple[int, ...] = ()) -> State:
    """What holds in both; with `widening` what changes is let go, so that repeating it ends: up to
    the next of the `limits` of the function, if there is one.
    """

    def combine(a: Value, b: Value) -> Value:
        return widen(a, b, limits) if widening else join(a, b)

    registers = [combine(a, b) for a, b in zip(state.registers, other.registers, strict=True)]
    slots = {
        slot: combine(value, other.slots[slot]) for slot, value in state.slots.items() if slot in other.slots
    }
    copies = {register: slot for register, slot in state.copies.items() if other.copies.get(register) == slot}
    flags = state.flags if state.flags == other.flags else None
    both = {register: min(state.zeros(register), other.zeros(register)) for register in range(REGISTERS)}
    aligned = {register: bits for register, bits in both.items() if bits > zeros(registers[register])}
    return State(registers, slots, flags, copies, min(state.escaped, other.escaped), aligned)


def covers(outer: State, inner: State) -> bool:
    """Whether `outer` holds wherever `inner` does."""
    return (
        (outer.flags is None or outer.flags == inner.flags)
        and outer.escaped <= inner.escaped
        and outer.copies.items() <= inner.copies.items()
        and all(map(contains, outer.registers, inner.registers))
        and all(inner.zeros(register) >= bits for register, bits in outer.aligned.items())
        and all(
            slot in inner.slots and contains(value, inner.slots[slot]) for slot, value in outer.slots.items()
        )
    )


MIRRORED = {
    "lo": "hi", "hi": "lo", "ls": "hs", "hs": "ls", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le",
    "eq": "eq", "ne": "ne",
}  # fmt: skip
SIGNED = {"lt", "le", "gt", "ge"}
_OF_DIFFERENCE = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge", "mi": "lt", "pl": "ge"}
"""What a condition asks of the difference, beside zero."""


def assume(state: State, flags: Flags | None, condition: str, holds: bool = True) -> State | None:
    """The state where a condition of the flags holds, or does not; None if that cannot be."""
    condition = condition if holds else INVERSE[condition]
    after, possible = state.copy(), True
    if flags and condition in MIRRORED:
        possible = _compare(after, flags.left, flags.right, condition, flags.left_in, flags.right_in)
    if flags and possible and condition in ("eq", "ne", "mi", "pl"):
        condition = _OF_DIFFERENCE.get(condition, condition)
        possible = _compare(after, flags.result, number(0), condition, flags.result_in)
    return after if possible else None


def _compare(
    state: State, left: Value, right: Value, condition: str, left_in: Where, right_in: Where = None
) -> bool:
    """Whether a value can stand so to the other; narrows both to where they do."""
    if left and right and left[0] and left[0] == right[0]:
        apart = minus(left, right)
        condition = _OF_DIFFERENCE.get(condition, condition)
        return apart is None or _compare(state, apart, number(0), condition, None)
    both = ((left, right, left_in), (right, left, right_in))
    if condition == "ne":
        for value, other, where in both:
            alone = constant(other)
            if alone is not None and value is not None and not value[0]:
                if value[1] == value[2] == alone:
                    return False
                low, high = unsigned(value)
                if (low, high) == value[1:]:
                    _set(state, where, number(low + (low == alone), high - (high == alone)))
        return True
    if condition == "eq":
        for value, other, where in both:
            # It may be any number, and is no pointer.
            is_open = value is None or value[0] not in ("", STACK, SRAM)
            if is_open and other is not None and not other[0]:
                _set(state, where, other)
                return True
    if (left and left[0]) or (right and right[0]):
        return True
    if condition in ("hi", "gt", "hs", "ge"):
        left, right, left_in, right_in = right, left, right_in, left_in
        condition = MIRRORED[condition]
    is_signed = condition in SIGNED
    view, strict = (signed if is_signed else unsigned), condition in ("lo", "lt")
    if condition == "eq":
        possible, new = also, greater = between(left, *unsigned(right), False)
    else:
        possible, new = between(left, -WORD, view(right)[1] - strict, is_signed)
        also, greater = between(right, view(left)[0] + strict, WORD, is_signed)
    if possible and also:
        _set(state, left_in, new)
        _set(state, right_in, greater)
    return possible and also


def _set(state: State, where: Where, value: Value) -> None:
    if where is None or value is None:
        return
    if isinstance(where, tuple):
        if where in state.slots:
            state.slots[where] = value
        return
    state.registers[where] = value
    slot = state.copies.get(where)
    if slot is not None and slot in state.slots:
        state.slots[slot] = value


# What holds interrupts off at a point of a program: PRIMASK, BASEPRI, FAULTMASK, and counters.


SOME = 0x100
"""A BASEPRI that is not zero, and of which no more is known."""


class Masks(NamedTuple):
    """`cells` are counters of a kernel that say how often it holds interrupts off, each None if it
    is not known.
    """

    primask: int = 0
    basepri: int = 0
    faultmask: int = 0
    cells: tuple[int | None, ...] = ()

    def read(self, register: str) -> Value:
        """What MRS gives."""
        if register in ("primask", "faultmask"):
            return number(getattr(self, register))
        if register in ("basepri", "basepri_max"):
            return number(self.basepri) if self.basepri < SOME else number(1, SOME - 1)
        return None

    def with_cell(self, which: int, value: int | None) -> Masks:
        """The masks after a counter was written."""
        cells = (*self.cells[:which], value, *self.cells[which + 1 :])
        return self._replace(cells=cells)

    def holds(self, kind: str) -> bool:
        """Whether a mask of that kind is set."""
        return kind == HANDLER or bool(getattr(self, kind))


HARD_FAULT, SERVICE_CALL = 3, 11
"""Numbers of exceptions (ARM DDI 0403E, B1.5.2)."""


HANDLER = "handler"
KINDS = ("primask", "basepri", "faultmask")


def written(masks: Masks, register: str, value: Value) -> list[Masks]:
    """The masks after MSR or CPS: all that may be.

    A value that may be 0, and of which no more is known, is taken to restore what was before: not
    held off.
    """
    bits = constant(value)
    if bits is None and unsigned(value)[0] == 0:
        bits = 0
    choices = (0, 1) if bits is None else (bits & 1,)
    if register == "primask":
        return [masks._replace(primask=choice) for choice in choices]
    if register == "faultmask":
        return [masks._replace(faultmask=choice) for choice in choices]
    level, before = SOME if bits is None else bits & 0xFF, masks.basepri
    if register == "basepri_max" and (not level or 0 < before <= level):
        # It only makes it more urgent (ARM DDI 0403E, B5.2.3).
        level = before
    return [masks._replace(basepri=level)]
