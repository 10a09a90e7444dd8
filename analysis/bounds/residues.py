"""What a number may be modulo 4, which tells whether an access is aligned.

A residue here is a set: bit n says that the number may be n modulo 4.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.bounds.values import SRAM, STACK, Value

ANY_RESIDUE, ALIGNED = 0b1111, 0b0001
_MODULUS = 4


def residue_of(value: Value) -> int:
    """That of a value. The stack pointer is a multiple of 4 (ARM DDI 0403E, B1.4.1), and the SRAM
    begins at one.
    """
    if value is not None and value[0] in ("", STACK, SRAM) and value[1] == value[2]:
        return 1 << value[1] % _MODULUS
    return ANY_RESIDUE


def shifted(residue: int, by: int) -> int:
    """That of a number shifted left by so many bits."""
    return ALIGNED if by >= 2 else combined("mul", residue, 1 << (1 << by))


def cycles(residue: int, size: int) -> tuple[int, int]:
    """The fewest and the most further transfers of an access of so many bytes (ARM DDI 0439, 3.3.2:
    one for a halfword, or a word at a halfword, two for a word at an odd address).
    """
    of_size = {4: (0, 2, 1, 2), 2: (0, 1, 0, 1)}.get(size, (0,) * _MODULUS)
    possible = [of_size[member] for member in _members(residue)]
    return min(possible), max(possible)


def combined(operation: str, left: int, other: int) -> int:
    """That of the result of an operation of two numbers."""
    return _TABLES[operation][left, other]


def _members(residue: int) -> list[int]:
    return [member for member in range(_MODULUS) if residue >> member & 1]


def _table(compute: Callable[[int, int], int]) -> dict[tuple[int, int], int]:
    table = {}
    for member in range(1, ANY_RESIDUE + 1):
        for other in range(1, ANY_RESIDUE + 1):
            results = {compute(a, b) % _MODULUS for a in _members(member) for b in _members(other)}
            table[member, other] = sum(1 << result for result in results)
    return table


_TABLES = {
    "add": _table(lambda a, b: a + b),
    "sub": _table(lambda a, b: a - b),
    "rsb": _table(lambda a, b: b - a),
    "mul": _table(lambda a, b: a * b),
    "and": _table(lambda a, b: a & b),
    "orr": _table(lambda a, b: a | b),
    "eor": _table(lambda a, b: a ^ b),
    "bic": _table(lambda a, b: a & ~b),
}
"""Of each operation whose last two bits follow from those of its operands."""
