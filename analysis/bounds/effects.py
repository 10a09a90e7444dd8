"""What each instruction does to the values of registers and stack.

Of what is not here, the registers that it writes are not known afterwards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from analysis.bounds.graph import OF_ZERO, PC, SP, Instruction, Memory, Operand
from analysis.bounds.state import Flags, State, assume, merge
from analysis.bounds.values import (
    SIGN,
    STACK,
    WORD,
    Value,
    address,
    constant,
    minus,
    number,
    plus,
    signed,
    unsigned,
    zeros,
)

Read = Callable[[int, int], int | None]
"""Takes an address and a number of bytes, and gives what never changes there; None if it may."""

SIZES = {
    **dict.fromkeys(("ldr", "ldrex", "ldrt", "str", "strt", "ldrd", "strd"), 4),
    **dict.fromkeys(("ldrh", "ldrht", "strh", "strht"), 2),
    **dict.fromkeys(("ldrb", "ldrbt", "strb", "strbt"), 1),
    **dict.fromkeys(("ldrsh", "ldrsht"), -2),
    **dict.fromkeys(("ldrsb", "ldrsbt"), -1),
}
"""Bytes of loads and stores of one register, of two each; negative where they extend the sign."""

_LSL, _LSR, _ASR = 2, 3, 1


def step(operation: Instruction, state: State, read: Read) -> State:
    """The state after an instruction, which neither branches nor touches masks. May change
    `state`. After an unpredictable one it means nothing; nothing that passes it has a bound.
    """
    if operation.unpredictable:
        return state
    if not operation.condition:
        _change(operation, state, read)
        return state
    done, left = decided(operation, state), decided(operation, state, holds=False)
    if done is not None:
        _change(operation, done, read)
    if done is None or left is None:
        only = done or left
        return state if only is None else only
    return merge(done, left)


def flags_of(operation: Instruction, state: State) -> Flags | None:
    """The flags that an instruction goes by; CBZ and CBNZ compare a register themselves."""
    if operation.name in OF_ZERO:
        return Flags(state.registers[operation.target], operation.target)
    return state.flags


def decided(operation: Instruction, state: State, holds: bool = True) -> State | None:
    """The state where an instruction's condition holds, or does not; None if that cannot be."""
    if operation.condition:
        return assume(state, flags_of(operation, state), operation.condition, holds)
    return state if holds else None


def address_of(memory: Memory, state: State, here: int) -> Value:
    """The address of an access."""
    if memory.base == PC:
        # TBB and TBH, alone with an index, do not align it.
        base: Value = number(here + 4 if memory.index is not None else (here + 4) & ~3)
    else:
        base = state.registers[memory.base]
    if memory.post is not None:
        return base
    if memory.index is not None:
        base = plus(base, _shifted(state.registers[memory.index], _LSL, memory.shift))
    return plus(base, number(memory.offset)) if memory.offset else base


def accessed(operation: Instruction, state: State) -> Value:
    """The address that an instruction loads from or stores to, of several registers the lowest;
    None if it is not known, or if there is none.
    """
    if operation.memory is not None:
        return address_of(operation.memory, state, operation.address)
    if operation.base is None or operation.base >= PC:
        return None
    base, by = state.registers[operation.base], _moves_by(operation)
    return base if by > 0 else plus(base, number(by))


def _moves_by(operation: Instruction) -> int:
    """By how many bytes a load or store of several registers may move its base."""
    is_downward = "db" in operation.name or operation.name.endswith("push")
    return (-4 if is_downward else 4) * operation.words


def divided(operation: Instruction, state: State) -> tuple[Value, Value]:
    """Dividend and divisor of a division."""
    dividend, divisor = (_value(operand, state) for operand in operation.operands[-2:])
    return dividend, divisor


def accessed_zeros(operation: Instruction, state: State) -> int:
    """How many of the last bits are 0 of the address that a single load or store accesses."""
    memory = operation.memory
    if memory is None or memory.base == PC:
        return zeros(accessed(operation, state))
    parts = [state.zeros(memory.base)]
    if memory.post is None:
        parts.append(zeros(number(memory.offset)))
        if memory.index is not None:
            parts.append(state.zeros(memory.index) + memory.shift)
    return min(parts)


def zeros_after(name: str, *bits: int) -> int:
    """How many of the last bits of a result are 0, by those of its operands."""
    if name in ("mul", "mla"):
        return min(bits[0] + bits[1], *bits[2:], 2)
    if name == "and":
        return max(bits)
    return min(bits, default=0) if name in _KEEPS_ZEROS else 0


def _zeros_of(operand: Operand, state: State) -> int:
    if operand.register is None:
        return zeros(number(operand.number))
    if operand.core < 0:
        return 0
    if not operand.how or operand.how == _LSL:
        return state.zeros(operand.core) + operand.shift
    return zeros(_value(operand, state))


_KEEPS_ZEROS = ("add", "sub", "rsb", "orr", "eor", "mov", "uxtb", "uxth", "sxtb", "sxth")


def _change(operation: Instruction, state: State, read: Read) -> None:
    name = operation.name
    if name in SIZES if operation.memory else operation.listed:
        _transfer(operation, state, read)
    elif name in ("cmp", "cmn", "tst", "teq"):
        _compare(operation, state)
    elif name == "adr":
        place = (operation.address + 4 & ~3) + operation.operands[1].number
        state.put(operation.target, number(place), "")
    elif name in _COMPUTED:
        _compute(operation, state)
    else:
        if operation.memory and operation.stores:
            state.store(address_of(operation.memory, state, operation.address), 8, None)
        for register in operation.written:
            if register == SP:
                state.slots.clear()
            state.put(register, None, f"@{operation.address:x}:{register}")
        if operation.sets_flags or name == "vmrs":
            state.flags = None


def _transfer(operation: Instruction, state: State, read: Read) -> None:
    """Loads or stores registers, one behind the other, and moves the base."""
    name, memory, base = operation.name, operation.memory, operation.base or 0
    loads = not operation.stores
    fresh, single = f"@{operation.address:x}", 0
    if memory is not None:
        single = 0 if name in ("ldrd", "strd") else SIZES[name]
        at, moves = address_of(memory, state, operation.address), memory.writeback
        by = memory.offset if memory.post is None else memory.post
    else:
        at, by = accessed(operation, state), _moves_by(operation)
        moves = base in operation.written and not any(
            loads and it.register == base for it in operation.listed
        )
    bits = min(state.zeros(base), zeros(number(by))) if moves else 0
    slot = (at[1], 4) if single == 4 and at and at[0] == STACK and at[1] == at[2] else None
    for operand in operation.listed:
        size, register = abs(single) or operand.bytes, operand.core
        if loads and register >= 0:
            state.put(register, _loaded(state, at, single or size, read), f"{fresh}:{register}")
            if slot in state.slots:
                state.copies[register] = slot
                if state.slots[slot] is None:
                    state.slots[slot] = state.registers[register]
        elif not loads:
            value = state.registers[register] if register >= 0 else None
            if size < 4 and unsigned(value)[1] >= 1 << 8 * size:
                value = None
            state.store(at, size, value, register if single else -1)
        at = plus(at, number(size))
    if moves:
        state.put(base, plus(state.registers[base], number(by)), f"{fresh}:{base}", bits)


def _loaded(state: State, place: Value, size: int, read: Read) -> Value:
    bits = 8 * abs(size)
    widest = number(*_span(bits, size < 0))
    if place is not None and place[0] == STACK:
        stored = state.slots.get((place[1], abs(size))) if place[1] == place[2] else None
        return stored if size == 4 or (size > 0 and unsigned(stored)[1] < 1 << bits) else widest
    fixed = constant(place)
    result = None if fixed is None else read(fixed, abs(size))
    if result is None:
        return widest
    if size < 0 and result >> (bits - 1):
        result -= 1 << bits
    return number(result) if abs(size) < 4 else address(result)


def _compare(operation: Instruction, state: State) -> None:
    left, right = operation.operands[0], operation.operands[-1]
    a, b = _value(left, state), _value(right, state)
    if operation.name == "cmp":
        state.flags = Flags(minus(a, b), None, a, b, _where(left), _where(right))
    elif operation.name == "cmn":
        least, most = unsigned(b)
        b = minus(number(0), b)
        state.flags = Flags(minus(a, b))
        if 0 < least <= most < SIGN or least > SIGN:
            # As CMP with the negative; of 0 the carry is another, of SIGN the overflow.
            state.flags = Flags(minus(a, b), None, a, b, _where(left))
    else:
        state.flags = Flags(_and(a, b) if operation.name == "tst" else _exclusive(a, b))


def _where(operand: Operand) -> int | None:
    return None if operand.core < 0 or operand.how else operand.core


def _value(operand: Operand, state: State) -> Value:
    if operand.register is None:
        return number(operand.number)
    if operand.core < 0:
        return None
    value = state.registers[operand.core]
    return _shifted(value, operand.how, operand.shift) if operand.how else value


def computed(name: str, *sources: Value) -> Value:
    """What an instruction gives that computes its result from other values."""
    return _COMPUTED[name](*sources)


def _compute(operation: Instruction, state: State) -> None:
    name, operands, target = operation.name, operation.operands, operation.target
    # Of two operands the first is also a source: ADD r0, r1.
    of = operands if len(operands) == 2 and name not in _UNARY else operands[1:]
    sources = [_value(operand, state) for operand in of]
    value = computed(name, *sources)
    copied = operands[1].register if name == "mov" else None
    bits = [_zeros_of(operand, state) for operand in of]
    shifted = name == "lsl" and of[1].register is None
    after = bits[0] + of[1].number if shifted else zeros_after(name, *bits)
    state.put(target, value, f"@{operation.address:x}", after)
    if operation.sets_flags and name == "sub" and len(sources) == 2:
        source = operands[-2]
        left_in = _where(source) if source.register != target else None
        state.flags = Flags(value, target, sources[0], sources[1], left_in)
    elif operation.sets_flags:
        state.flags = Flags(state.registers[target] if value is None else value, target)
    if copied is not None and copied in state.copies and target < PC:
        state.copies[target] = state.copies[copied]
    if target == SP and (state.registers[SP] or ("",))[0] != STACK:
        state.slots.clear()


def _shifted(value: Value, how: int, by: int) -> Value:
    shift = {_LSL: _left, _LSR: _right, _ASR: _arithmetic}.get(how)
    return None if shift is None else shift(value, number(by))


def _left(value: Value, by: Value) -> Value:
    count = constant(by)
    if count is None or value is None or value[0]:
        return value if count == 0 else None
    # Modulo 2³², whatever is shifted out.
    return number(value[1] << count, value[2] << count) if count <= 31 else number(0)


def _right(value: Value, by: Value) -> Value:
    low, high = unsigned(value)
    least, most = unsigned(by)
    least, most = min(least, 32), min(most, 32)
    if value is not None and value[0] and most == 0:
        return value
    return number(low >> most, high >> least)


def _arithmetic(value: Value, by: Value) -> Value:
    count = constant(by)
    low, high = signed(value)
    return None if count is None else number(low >> min(count, 31), high >> min(count, 31))


def _by_register(shift: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """A shift by the last byte of a register (ARM DDI 0403E, A7.7: LSL, LSR and ASR (register))."""

    def shifted(value: Value, by: Value) -> Value:
        count = constant(by)
        return shift(value, _extended(8, False)(by) if count is None else number(count & 0xFF))

    return shifted


def _bitwise(
    exact: Callable[[int, int], int], limits: Callable[[int, int, int, int], tuple[int, int]]
) -> Callable[[Value, Value], Value]:
    """An operation of bits: of numbers that are known exactly, else from the least and the greatest
    that each can be.
    """

    def combine(left: Value, other: Value) -> Value:
        a, b = constant(left), constant(other)
        if a is not None and b is not None:
            return number(exact(a, b))
        return number(*limits(*unsigned(left), *unsigned(other)))

    return combine


def _all_ones(high: int, most: int) -> int:
    return (1 << max(high, most).bit_length()) - 1


_and = _bitwise(operator.and_, lambda _low, high, _least, most: (0, min(high, most)))
_or = _bitwise(operator.or_, lambda low, high, least, most: (max(low, least), _all_ones(high, most)))
_xor = _bitwise(operator.xor, lambda _low, high, _least, most: (0, _all_ones(high, most)))
_clear = _bitwise(lambda a, b: a & ~b, lambda low, high, _least, most: (max(0, low - most), high))


def _exclusive(left: Value, other: Value) -> Value:
    same = left is not None and left == other and left[1] == left[2]
    return number(0) if same else _xor(left, other)


def _field(value: Value, first: Value, width: Value) -> Value:
    at, bits = constant(first), constant(width)
    if at is None or bits is None:
        return None
    low, high = unsigned(value)
    if high >> at < 1 << bits:
        return number(low >> at, high >> at)
    return number(*_span(bits, False))


def _span(bits: int, is_signed: bool) -> tuple[int, int]:
    """The least and the greatest number of so many bits."""
    least = -(1 << bits - 1) if is_signed else 0
    return least, least + (1 << bits) - 1


def _extended(bits: int, is_signed: bool) -> Callable[[Value], Value]:
    def extend(value: Value) -> Value:
        low, high = signed(value) if is_signed else unsigned(value)
        least, most = _span(bits, is_signed)
        return number(low, high) if least <= low and high <= most else number(least, most)

    return extend


def _zeros(value: Value) -> Value:
    low, high = unsigned(value)
    return number(32 - high.bit_length(), 32 - low.bit_length())


def _product(left: Value, other: Value) -> Value:
    (low, high), (least, most) = unsigned(left), unsigned(other)
    if high * most < WORD:
        return number(low * least, high * most)
    corners = [a * b for a in signed(left) for b in signed(other)]
    return number(min(corners), max(corners))


def _quotient(left: Value, other: Value) -> Value:
    (low, high), (least, most) = unsigned(left), unsigned(other)
    return number(0 if least == 0 else low // most, high // max(least, 1))


def _signed_quotient(left: Value, other: Value) -> Value:
    low, high = signed(left)
    divisor = constant(other)
    if divisor is None or not 0 < divisor < WORD >> 1:
        return None
    towards_zero = [left // divisor if left >= 0 else -(-left // divisor) for left in (low, high)]
    return number(*towards_zero)


def _top(low: Value, high: Value) -> Value:
    """MOVT."""
    upper = constant(high)
    below = constant(low)
    if upper is None or below is None:
        return None
    return address(upper << 16 | below & 0xFFFF)


_COMPUTED: dict[str, Callable[..., Value]] = {
    "mov": lambda value: value,
    "mvn": lambda value: minus(number(-1), value),
    "add": plus,
    "sub": minus,
    "rsb": lambda left, other: minus(other, left),
    "and": _and,
    "orr": _or,
    "orn": lambda left, other: _or(left, minus(number(-1), other)),
    "eor": _exclusive,
    "bic": _clear,
    "lsl": _by_register(_left),
    "lsr": _by_register(_right),
    "asr": _by_register(_arithmetic),
    "ubfx": _field,
    "uxtb": _extended(8, False),
    "uxth": _extended(16, False),
    "sxtb": _extended(8, True),
    "sxth": _extended(16, True),
    "clz": _zeros,
    "mul": _product,
    "mla": lambda left, other, more: plus(_product(left, other), more),
    "mls": lambda left, other, more: minus(more, _product(left, other)),
    "udiv": _quotient,
    "sdiv": _signed_quotient,
    "movt": _top,
}
_UNARY = ("mov", "mvn", "clz", "uxtb", "uxth", "sxtb", "sxth")
