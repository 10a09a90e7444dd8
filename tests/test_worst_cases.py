"""The published worst cases of the TLSFs."""

from __future__ import annotations

from functools import cache

import pytest

from base.files import results
from studies.tables.allocators import OTHERS, OURS, worst_cycles

pytestmark = pytest.mark.docs

TOLERANCE = 0.05
"""A change anywhere in the image moves code among the flash lines, and these figures a little."""


@cache
def worst(allocator: str, art: bool) -> tuple[int, int]:
    return worst_cycles(allocator, art)


@pytest.mark.long
@pytest.mark.parametrize("allocator", [*OURS, *OTHERS])
def test_the_result_is_what_a_fresh_measurement_gives(allocator: str) -> None:
    published = {name: [int(cell) for cell in cells] for name, *cells in results.read("tlsf")}
    measured = [*worst(allocator, True), *worst(allocator, False)]
    again = "Run python -m studies.tables tlsf."
    assert published[allocator] == pytest.approx(measured, rel=TOLERANCE), again


@pytest.mark.long
@pytest.mark.parametrize("art", [True, False], ids=["art-on", "art-off"])
@pytest.mark.parametrize("other", OTHERS)
def test_our_worst_is_below_theirs(other: str, art: bool) -> None:
    ours, theirs = worst("tlsf_compact", art), worst(other, art)
    assert ours[0] < theirs[0]
    assert ours[1] < theirs[1]
