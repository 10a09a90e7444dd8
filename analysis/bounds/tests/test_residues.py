"""What is known of numbers modulo 4, beside all numbers that may be meant."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product

import pytest

from analysis.bounds.residues import ANY_RESIDUE, combined, cycles, residue_of

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


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_result_is_among_what_is_told(name: str) -> None:
    for a, b in product(range(16), range(16)):
        members = combined(name, 1 << a % 4, 1 << b % 4)
        assert members == 1 << OPERATIONS[name](a, b) % 4


# ARM DDI 0439, 3.3.2, each place by hand.
@pytest.mark.parametrize(
    ("residue", "size", "most"),
    [(1, 4, 0), (2, 4, 2), (4, 4, 1), (8, 4, 2), (1, 2, 0), (2, 2, 1), (15, 1, 0)],
)
def test_an_access_that_is_not_aligned_takes_more_transfers(residue: int, size: int, most: int) -> None:
    assert cycles(residue, size) == (most, most)
    assert cycles(ANY_RESIDUE, 4) == (0, 2)


def test_only_an_exact_value_tells_it_by_itself() -> None:
    assert residue_of(("", 6, 6)) == residue_of(("sram", 6, 6)) == residue_of(("sp", -2, -2)) == 1 << 2
    assert residue_of(("", 4, 8)) == residue_of(None) == residue_of(("r0", 0, 0)) == ANY_RESIDUE
