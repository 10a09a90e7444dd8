"""The published worst cases of the TLSFs, and an adversary against allocators in constant time."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from analysis.studies import adversary
from analysis.studies.worst_cases import OTHERS, OURS, worst_cycles
from firmware import catalogue

pytestmark = pytest.mark.docs

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "TLSF.md"
CONSTANT_TIME = [
    name
    for name, row in catalogue.allocators().items()
    if (row.allocate, row.free) == ("O(1)", "O(1)")
    and "frees" in row.promises
    # A user's own checkout may be of any version.
    and row.checkout is None
]
NEAR = 0.7
# A change anywhere in the image moves code among the flash lines, and these figures a little.
TOLERANCE = 0.05


@cache
def worst(allocator: str, art: bool) -> tuple[int, int]:
    return worst_cycles(allocator, art)


def published_bounds() -> dict[str, tuple[int, int]]:
    """The published bounds of an allocation and of a free, by allocator."""
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    return {name: (int(allocate), int(free)) for name, allocate, free in rows}


@pytest.mark.parametrize("allocator", (*OURS, *OTHERS))
def test_the_table_is_what_a_fresh_measurement_gives(allocator: str) -> None:
    row = re.search(rf"^\| {allocator} " + r"\| (\d+) " * 4 + r"\|$", DOCUMENT.read_text(), re.MULTILINE)
    assert row is not None
    measured = [*worst(allocator, True), *worst(allocator, False)]
    assert [int(cell) for cell in row.groups()] == pytest.approx(measured, rel=TOLERANCE), (
        "Run python -m analysis.studies.worst_cases and put its table into docs/TLSF.md."
    )


@pytest.mark.parametrize("art", [True, False], ids=["art-on", "art-off"])
@pytest.mark.parametrize("other", OTHERS)
def test_our_worst_is_below_theirs(other: str, art: bool) -> None:
    ours, theirs = worst("tlsf_compact", art), worst(other, art)
    assert ours[0] < theirs[0]
    assert ours[1] < theirs[1]


def test_every_allocator_in_constant_time_has_a_bound() -> None:
    assert sorted(published_bounds()) == sorted(CONSTANT_TIME)


@pytest.mark.parametrize("allocator", CONSTANT_TIME)
def test_an_adversary_stays_within_the_bound(allocator: str) -> None:
    allocate, free = published_bounds()[allocator]
    found = adversary.search(allocator, runs=4, operations=500, seed=2)
    assert NEAR * allocate <= found.allocate <= allocate
    assert NEAR * free <= found.free <= free
