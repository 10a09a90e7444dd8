"""Ranges of values: whatever two numbers of them give is in the range that is computed."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from itertools import product

import pytest

from analysis.bounds import effects, values
from analysis.bounds.effects import zeros_after
from analysis.bounds.state import Flags, State, assume
from analysis.bounds.values import SIGN, WORD, Value, number

_TRIALS = 400


def drawn(draw: random.Random) -> Value:
    """Small and wide ranges, near zero, the sign and the end."""
    if draw.random() < 0.1:
        return None
    middle = draw.choice((0, 5, 255, SIGN, SIGN - 3, WORD - 2, draw.randrange(WORD)))
    low = middle + draw.randint(-9, 9)
    return number(low, low + draw.choice((0, 0, 1, 7, 300, SIGN)))


def member(value: Value, draw: random.Random) -> int:
    """One of the numbers that a value can be."""
    if value is None:
        return draw.randrange(WORD)
    return draw.choice((value[1], value[2], draw.randint(value[1], value[2]))) % WORD


def holds(value: Value, item: int) -> bool:
    if value is None:
        return True
    return value[1] <= item <= value[2] or value[1] <= item + WORD <= value[2]


def as_signed(item: int) -> int:
    return item - WORD if item >= SIGN else item


def shifted(operation: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: operation(a, b & 0xFF) if b & 0xFF < 32 else 0


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "rsb": lambda a, b: b - a,
    "mul": operator.mul,
    "and": operator.and_,
    "orr": operator.or_,
    "eor": operator.xor,
    "bic": lambda a, b: a & ~b,
}
OTHERS: dict[str, Callable[[int, int], int]] = {
    "udiv": lambda a, b: a // b if b else 0,
    "lsr": shifted(operator.rshift),
    "lsl": shifted(operator.lshift),
    "asr": lambda a, b: as_signed(a) >> min(b & 0xFF, 31),
}


@pytest.mark.parametrize(("name", "truth"), [*OPERATIONS.items(), *OTHERS.items()])
def test_what_two_numbers_give_is_in_the_range_of_their_ranges(
    name: str, truth: Callable[[int, int], int]
) -> None:
    draw = random.Random(name)
    for _ in range(_TRIALS):
        left, other = drawn(draw), drawn(draw)
        if name in ("lsr", "lsl", "asr"):
            # Only the last byte of a register counts.
            other = number(draw.randint(0, 33) + draw.choice((0, 0x100, 0xFFFF_FF00)))
        a, b = member(left, draw), member(other, draw)
        assert holds(effects.computed(name, left, other), truth(a, b) % WORD), (left, other, a, b)


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("mvn", lambda a: ~a),
        ("clz", lambda a: 32 - a.bit_length()),
        ("uxtb", lambda a: a & 0xFF),
        ("uxth", lambda a: a & 0xFFFF),
        ("sxtb", lambda a: (a & 0xFF) - (0x100 if a & 0x80 else 0)),
        ("sxth", lambda a: (a & 0xFFFF) - (0x10000 if a & 0x8000 else 0)),
    ],
)
def test_what_a_number_gives_is_in_the_range_of_its_range(name: str, truth: Callable[[int], int]) -> None:
    draw = random.Random(name)
    for _ in range(_TRIALS):
        value = drawn(draw)
        a = member(value, draw)
        assert holds(effects.computed(name, value), truth(a) % WORD), (value, a)


def test_a_joined_and_a_widened_range_have_the_numbers_of_both() -> None:
    draw = random.Random(1)
    for _ in range(_TRIALS):
        left, other = drawn(draw), drawn(draw)
        for value in (left, other):
            a = member(value, draw)
            assert holds(values.join(left, other), a), (left, other, a)
            assert holds(values.widen(left, other), a), (left, other, a)


def test_widening_comes_to_an_end() -> None:
    value, laps = number(0), 0
    while (wider := values.widen(value, values.plus(value, number(1)))) != value:
        value, laps = wider, laps + 1
        assert laps < 16


def signed(compare: Callable[[int, int], bool]) -> Callable[[int, int], bool]:
    return lambda a, b: compare(as_signed(a), as_signed(b))


_TRUTHS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lo": operator.lt,
    "hs": operator.ge,
    "hi": operator.gt,
    "ls": operator.le,
    **{name: signed(getattr(operator, name)) for name in ("lt", "ge", "gt", "le")},
    "mi": lambda a, b: (a - b) % WORD >= SIGN,
    "pl": lambda a, b: (a - b) % WORD < SIGN,
}


def compared(left: Value, right: Value, right_in: int | None) -> Flags:
    """The flags after CMP of r0 with a value."""
    return Flags(values.minus(left, right), None, left, right, 0, right_in)


@pytest.mark.parametrize("condition", sorted(_TRUTHS))
def test_a_branch_keeps_every_number_that_takes_it(condition: str) -> None:
    draw = random.Random(condition)
    for _ in range(_TRIALS):
        left, other = drawn(draw), drawn(draw)
        a, b = member(left, draw), member(other, draw)
        state, flags = State([left, other, *[None] * 13]), compared(left, other, 1)
        after = assume(state, flags, condition, _TRUTHS[condition](a, b))
        assert after is not None, (left, other, a, b)
        assert holds(after.registers[0], a)
        assert holds(after.registers[1], b)


def test_a_branch_that_no_number_takes_is_none() -> None:
    state = State([number(3, 7), *[None] * 14])
    flags = compared(number(3, 7), number(9), None)
    assert assume(state, flags, "hs") is None
    assert assume(state, flags, "eq") is None


def test_a_pointer_that_is_moved_by_a_number_nobody_knows_points_into_the_memory() -> None:
    moved = values.plus(values.address(0x2000_0100), None)
    assert moved is not None
    assert moved[0] == values.SRAM
    assert values.relative("r0", SIGN, SIGN + 4) == ("r0", SIGN, SIGN + 4)
    assert values.minus(values.address(0x2000_0110), values.address(0x2000_0100)) == number(16)


# How many of the last bits are 0, beside those of all numbers that may be meant.


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_result_has_the_zeros_that_are_told(name: str) -> None:
    for a, b in product(range(16), range(16)):
        told = zeros_after(name, *(values.zeros(number(operand)) for operand in (a, b)))
        assert told <= values.zeros(number(OPERATIONS[name](a, b) % WORD))


def test_only_an_exact_value_tells_it_by_itself() -> None:
    assert [values.zeros(value) for value in (("", 6, 6), ("sram", 8, 8), ("sp", -4, -4))] == [1, 2, 2]
    assert not any(values.zeros(value) for value in (("", 4, 8), None, ("r0", 0, 0), number(7)))
