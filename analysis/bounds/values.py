"""What may be in a register: a range of 32-bit numbers, perhaps relative to one that is not known.

A value is None if nothing is known of it, else (base, low, high). Without a base it is any of the
numbers from `low` to `high`, modulo 2³²; `low` is below 2³². With one, it is that unknown number
plus `low` to `high`, which may be negative. A base is a name: the stack pointer at the function's
entry, an argument, or what a certain instruction loaded.

Two bases are known to be pointers: STACK, and SRAM, where the memory begins. What is computed from
a pointer still points there, wherever that is: C knows no sum that leads from one object to another
(C11, 6.5.6).
"""

from __future__ import annotations

Value = tuple[str, int, int] | None

WORD = 1 << 32
SIGN = 1 << 31
_WIDEST = 1 << 31
"""A wider range is not kept where it is relative to a base."""
STACK = "sp"
SRAM = "sram"
SRAM_ADDRESS, SRAM_BYTES = 0x2000_0000, 0x10_0000
_POINTERS = (STACK, SRAM)
_FAR = 1 << 29
"""So far from its base a pointer is taken to be anywhere."""


def number(low: int, high: int | None = None) -> Value:
    """The numbers from `low` to `high`, or one alone; None if that is all of them."""
    high = low if high is None else high
    if high - low >= WORD - 1:
        return None
    start = low % WORD
    return ("", start, start + high - low)


def address(place: int) -> Value:
    """A number that the program holds as a constant: a pointer if it lies in the SRAM."""
    if SRAM_ADDRESS <= place < SRAM_ADDRESS + SRAM_BYTES:
        return (SRAM, place - SRAM_ADDRESS, place - SRAM_ADDRESS)
    return number(place)


def relative(base: str, low: int, high: int) -> Value:
    """`base` plus `low` to `high`."""
    if not base:
        return number(low, high)
    if base in _POINTERS:
        return (base, min(max(low, -_FAR), _FAR), max(min(high, _FAR), -_FAR))
    return (base, low, high) if high - low < _WIDEST else None


def constant(value: Value) -> int | None:
    """The number, if it can be only one."""
    if value is None or value[1] != value[2] or value[0] not in ("", SRAM):
        return None
    return value[1] + (SRAM_ADDRESS if value[0] else 0)


def unsigned(value: Value) -> tuple[int, int]:
    """The least and the greatest that it can be as an unsigned number."""
    value = _plain(value)
    if value is None or value[0] or value[2] >= WORD:
        return (0, WORD - 1)
    return value[1:]


def signed(value: Value) -> tuple[int, int]:
    """The least and the greatest that it can be as a signed number."""
    value = _plain(value)
    if value is None or value[0]:
        return (-SIGN, SIGN - 1)
    _, low, high = value
    if high < SIGN:
        return (low, high)
    if low >= SIGN and high < WORD + SIGN:
        return (low - WORD, high - WORD)
    return (-SIGN, SIGN - 1)


def _plain(value: Value) -> Value:
    """A pointer into the SRAM as a number."""
    if value is None or value[0] != SRAM:
        return value
    if value[1] == value[2]:
        return ("", SRAM_ADDRESS + value[1], SRAM_ADDRESS + value[1])
    return ("", SRAM_ADDRESS, SRAM_ADDRESS + SRAM_BYTES - 1)


def plus(left: Value, other: Value) -> Value:
    """The sum. At most one of the two may have a base, but for a pointer: it is moved."""
    for pointer, moved in ((left, other), (other, left)):
        if pointer is not None and pointer[0] in _POINTERS and (moved is None or moved[0]):
            return None if moved is not None and moved[0] in _POINTERS else (pointer[0], -_FAR, _FAR)
    if left is None or other is None or (left[0] and other[0]):
        return None
    (low, high), (least, most) = _beside(left, other), _beside(other, left)
    return relative(left[0] or other[0], low + least, high + most)


def _beside(value: tuple[str, int, int], other: tuple[str, int, int]) -> tuple[int, int]:
    """The range of a value; a number that moves what has a base may be negative."""
    return signed(value) if other[0] and not value[0] else value[1:]


def minus(left: Value, other: Value) -> Value:
    """The difference; of the same base, a number."""
    if left is None or other is None:
        return None
    if other[0] and left[0] != other[0]:
        left, other = _plain(left), _plain(other)
        if left is None or other is None or (other[0] and left[0] != other[0]):
            return None
    base = "" if other[0] else left[0]
    least, most = _beside(other, left) if base else other[1:]
    return relative(base, left[1] - most, left[2] - least)


def join(left: Value, other: Value) -> Value:
    """What may be the one or the other: the shorter way around for numbers."""
    if left is not None and other is not None and left[0] != other[0] and SRAM in (left[0], other[0]):
        left, other = _plain(left), _plain(other)
    if left is None or other is None or left[0] != other[0]:
        return None
    if left == other:
        return left
    if left[0]:
        return relative(left[0], min(left[1], other[1]), max(left[2], other[2]))
    ways = []
    for shift in (-WORD, 0, WORD):
        low, high = min(left[1], other[1] + shift), max(left[2], other[2] + shift)
        ways.append((high - low, low, high))
    _, low, high = min(ways)
    return number(low, high)


_THRESHOLDS = (0, 1, 0xFF, 0xFFFF, SIGN - 1, WORD - 1, WORD * 2)


def widen(before: Value, after: Value, limits: tuple[int, ...] = ()) -> Value:
    """A range that grows is let go to the next of a few limits, so that growing comes to an end.
    `limits` are further ones.
    """
    both = join(before, after)
    if both is None or before is None or both == before:
        return both
    if both[0] in _POINTERS:
        low = both[1] if both[1] == before[1] else -_FAR
        return (both[0], low, both[2] if both[2] == before[2] else _FAR)
    if both[0]:
        return None
    low = both[1] if both[1] == before[1] else max(limit for limit in (0, 1, *limits) if limit <= both[1])
    high = both[2]
    if high != before[2]:
        high = min(limit for limit in (*_THRESHOLDS, *limits) if limit >= high)
    return number(low, high)


def contains(outer: Value, inner: Value) -> bool:
    """Whether `outer` says no more than `inner` does."""
    return join(outer, inner) == outer


def between(value: Value, low: int, high: int, is_signed: bool) -> tuple[bool, Value]:
    """The part of `value` between the limits, behind True; False where there is none."""
    if value is not None and value[0]:
        return (low <= high, value)
    least, most = signed(value) if is_signed else unsigned(value)
    low, high = max(least, low), min(most, high)
    return (True, number(low, high)) if low <= high else (False, None)


# How many of the last bits of a number are known to be 0, up to two: whether an access is aligned.


def zeros(value: Value) -> int:
    """Those of a value. The stack pointer is a multiple of 4 (ARM DDI 0403E, B1.4.1), and the SRAM
    begins at one.
    """
    if value is None or value[0] not in ("", STACK, SRAM) or value[1] != value[2]:
        return 0
    return 2 if value[1] % 4 == 0 else int(value[1] % 2 == 0)
