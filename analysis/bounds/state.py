"""What is known of registers, stack and flags at a point of a function, and what branches add."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from analysis.bounds.graph import INVERSE, LR, SP
from analysis.bounds.values import (
    SIGN,
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
    """What the flags were last set by.

    `compare`: left less right, of any condition. `result`: left beside zero, of which equality and
    sign are known. Where the value stands is in `left_in` and `right_in`. `result_in` has the
    difference, if that was kept.
    """

    kind: Literal["compare", "result"]
    left: Value
    right: Value
    left_in: Where = None
    right_in: Where = None
    result_in: Where = None


@dataclass(slots=True)
class State:
    """Values of r0 to lr, and of the stack's places that were written.

    `copies` says which register holds what stands in a place. Pointers to the stack from `escaped`
    on upward may be known elsewhere; None if none are. `aligned` has how many of a register's last
    bits are 0, as values.zeros().
    """

    registers: list[Value]
    slots: dict[Slot, Value] = field(default_factory=dict)
    flags: Flags | None = None
    copies: dict[int, Slot] = field(default_factory=dict)
    escaped: int | None = None
    aligned: dict[int, int] = field(default_factory=dict)

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

    def put(self, register: int, value: Value, fresh: str) -> None:
        """Writes a register. `fresh` is a name for the value if nothing is known of it."""
        if register >= REGISTERS:
            return
        if value is None:
            value = (fresh, 0, 0)
            self.forget(fresh)
        self.registers[register] = value
        self.aligned.pop(register, None)
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
            operand and operand[0] == base for operand in (self.flags.left, self.flags.right)
        ):
            self.flags = None

    def _moved(self, where: Where) -> None:
        flags = self.flags
        if flags and where in (flags.left_in, flags.right_in, flags.result_in):
            self.flags = replace(
                flags,
                left_in=None if flags.left_in == where else flags.left_in,
                right_in=None if flags.right_in == where else flags.right_in,
                result_in=None if flags.result_in == where else flags.result_in,
            )

    def store(self, address: Value, size: int, value: Value, register: int | None = None) -> None:
        """Writes memory. What may be hit and is not known to stay is forgotten."""
        if value is not None and value[0] == STACK:
            self.escape(value)
        if address is None or address[0] != STACK:
            exact = address is not None and not address[0]
            if not exact:
                self.clobber()
            return
        low, high = address[1], address[2] + size
        for slot in [slot for slot in self.slots if slot[0] < high and slot[0] + slot[1] > low]:
            del self.slots[slot]
            self._dropped(slot)
        if address[1] == address[2]:
            self.slots[low, size] = value
            if register is not None and register < REGISTERS and size == 4:
                self.copies[register] = (low, size)

    def _dropped(self, slot: Slot) -> None:
        for register in [register for register, held in self.copies.items() if held == slot]:
            del self.copies[register]
        self._moved(slot)

    def escape(self, value: Value) -> None:
        """A pointer to the stack has become known elsewhere."""
        if value is not None and value[0] == STACK:
            self.escaped = value[1] if self.escaped is None else min(self.escaped, value[1])

    def clobber(self) -> None:
        """Something was written, nobody knows where: what others may point to is forgotten."""
        if self.escaped is not None:
            for slot in [slot for slot in self.slots if slot[0] + slot[1] > self.escaped]:
                del self.slots[slot]
                self._dropped(slot)

    def called(self, result: Value, fresh: str) -> None:
        """A function was called and came back: AAPCS, 6.1.1, says which registers it keeps."""
        for register in range(4):
            self.escape(self.registers[register])
        self.clobber()
        self.flags = None
        stack = self.registers[SP]
        if stack is not None and stack[0] == STACK:
            for slot in [slot for slot in self.slots if slot[0] < stack[1]]:
                del self.slots[slot]
                self._dropped(slot)
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
    registers: list[Value] = [(f"r{number}", 0, 0) for number in range(REGISTERS)]
    for register, value in enumerate(arguments):
        if value is not None:
            registers[register] = value
    registers[SP] = (STACK, 0, 0)
    return State(registers)


def merge(state: State, other: State, widening: bool, limits: tuple[int, ...] = ()) -> State:
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
    escaped = [at for at in (state.escaped, other.escaped) if at is not None]
    flags = state.flags if state.flags == other.flags else None
    both = {register: min(state.zeros(register), other.zeros(register)) for register in range(REGISTERS)}
    aligned = {register: bits for register, bits in both.items() if bits > zeros(registers[register])}
    return State(registers, slots, flags, copies, min(escaped, default=None), aligned)


def covers(outer: State, inner: State) -> bool:
    """Whether `outer` holds wherever `inner` does."""
    if outer.flags is not None and outer.flags != inner.flags:
        return False
    if inner.escaped is not None and (outer.escaped is None or outer.escaped > inner.escaped):
        return False
    if any(inner.copies.get(register) != slot for register, slot in outer.copies.items()):
        return False
    if not all(map(contains, outer.registers, inner.registers)):
        return False
    if any(inner.zeros(register) < bits for register, bits in outer.aligned.items()):
        return False
    return all(
        slot in inner.slots and contains(value, inner.slots[slot]) for slot, value in outer.slots.items()
    )


MIRRORED = {
    "lo": "hi", "hi": "lo", "ls": "hs", "hs": "ls", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le",
    "eq": "eq", "ne": "ne",
}  # fmt: skip
SIGNED = {"lt", "le", "gt", "ge"}
_STRICT = {"lo", "lt", "hi", "gt"}


def assume(state: State, condition: str, holds: bool = True) -> State | None:
    """The state where a condition holds, or does not; None if that cannot be."""
    condition = condition if holds else INVERSE[condition]
    flags = state.flags
    if flags is None:
        return state.copy()
    after = state.copy()
    possible = True
    if flags.kind == "compare" and condition in MIRRORED:
        possible = _compare(after, flags, condition)
    if possible and condition in ("eq", "ne", "mi", "pl"):
        value = flags.left if flags.kind == "result" else minus(flags.left, flags.right)
        where = flags.left_in if flags.kind == "result" else flags.result_in
        possible = _beside_zero(after, value, where, condition)
    return after if possible else None


def is_zero(state: State, register: int, holds: bool) -> State | None:
    """The state where a register is zero, or is not; None if that cannot be."""
    after = state.copy()
    possible = _beside_zero(after, state.registers[register], register, "eq" if holds else "ne")
    return after if possible else None


def _beside_zero(state: State, value: Value, where: Where, condition: str) -> bool:
    if condition == "eq":
        if _is_open(value):
            possible, value = True, number(0)
        else:
            possible, value = between(value, 0, 0, False)
        if value is not None and value[0]:
            return True
    elif condition == "ne":
        possible, value = _without(value, 0)
    else:
        limits = (-SIGN, -1) if condition == "mi" else (0, SIGN - 1)
        possible, value = between(value, *limits, True)
    if possible:
        _set(state, where, value)
    return possible


def _without(value: Value, register: int) -> tuple[bool, Value]:
    """The value, which is not that of `register`."""
    if value is None or value[0]:
        return True, value
    if value[1] == value[2] == register:
        return False, None
    low, high = unsigned(value)
    if (low, high) == value[1:]:
        return True, number(low + (low == register), high - (high == register))
    return True, value


def _compare(state: State, flags: Flags, condition: str) -> bool:
    left, right = flags.left, flags.right
    if left and right and left[0] and left[0] == right[0]:
        apart = minus(left, right)
        if apart is None:
            return True
        return _can(signed(apart), condition)
    if condition in ("eq", "ne"):
        return _same(state, flags, condition)
    if (left and left[0]) or (right and right[0]):
        return True
    view = signed if condition in SIGNED else unsigned
    (low, high), (from_, to) = view(left), view(right)
    strict = condition in _STRICT
    least, most = (-SIGN, SIGN - 1) if condition in SIGNED else (0, WORD - 1)
    if condition in ("lo", "lt", "ls", "le"):
        mine, others = (least, to - strict), (low + strict, most)
    else:
        mine, others = (from_ + strict, most), (least, high - strict)
    possible, new = between(left, *mine, condition in SIGNED)
    also, other = between(right, *others, condition in SIGNED)
    if possible and also:
        _set(state, flags.left_in, new)
        _set(state, flags.right_in, other)
    return possible and also


def _same(state: State, flags: Flags, condition: str) -> bool:
    left, right = flags.left, flags.right
    if condition == "ne":
        alone, other = constant(right), constant(left)
        possible = True
        if alone is not None:
            possible, new = _without(left, alone)
            if possible:
                _set(state, flags.left_in, new)
        elif other is not None:
            possible, new = _without(right, other)
            if possible:
                _set(state, flags.right_in, new)
        return possible
    if _is_open(left) and right is not None and not right[0]:
        _set(state, flags.left_in, right)
        return True
    if _is_open(right) and left is not None and not left[0]:
        _set(state, flags.right_in, left)
        return True
    if left is None or right is None or left[0] or right[0]:
        return True
    possible, both = between(left, *unsigned(right), False)
    if possible:
        _set(state, flags.left_in, both)
        _set(state, flags.right_in, both)
    return possible


def _is_open(value: Value) -> bool:
    """Whether a value may be any number, and is no pointer."""
    return value is None or value[0] not in ("", STACK, SRAM)


def _can(apart: tuple[int, int], condition: str) -> bool:
    """Whether a difference allows the condition."""
    low, high = apart
    return {
        "eq": low <= 0 <= high, "ne": low != 0 or high != 0,
        "lo": low < 0, "lt": low < 0, "ls": low <= 0, "le": low <= 0,
        "hi": high > 0, "gt": high > 0, "hs": high >= 0, "ge": high >= 0,
    }[condition]  # fmt: skip


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
    if register in ("primask", "faultmask"):
        choices = (0, 1) if bits is None else (bits & 1,)
        is_primask = register == "primask"
        return [
            masks._replace(primask=choice) if is_primask else masks._replace(faultmask=choice)
            for choice in choices
        ]
    levels = [SOME if bits is None else bits & 0xFF]
    if register == "basepri_max":
        # It only makes it more urgent (ARM DDI 0403E, B5.2.3).
        before = masks.basepri
        levels = [level if level and (not before or level < before) else before for level in levels]
    return [masks._replace(basepri=level) for level in dict.fromkeys(levels)]
