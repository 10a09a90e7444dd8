"""The published worst cases of the TLSFs."""

from __future__ import annotations

import re
from functools import cache

import pytest

from base.paths import ROOT
from studies.tables.worst_cases import OTHERS, OURS, worst_cycles

pytestmark = pytest.mark.docs

DOCUMENT = ROOT / "docs" / "reference" / "tlsf.md"
# A change anywhere in the image moves code among the flash lines, and these figures a little.
TOLERANCE = 0.05


@cache
def worst(allocator: str, art: bool) -> tuple[int, int]:
    return worst_cycles(allocator, art)


@pytest.mark.parametrize("allocator", (*OURS, *OTHERS))
def test_the_table_is_what_a_fresh_measurement_gives(allocator: str) -> None:
    row = re.search(rf"^\| {allocator} " + r"\| (\d+) " * 4 + r"\|$", DOCUMENT.read_text(), re.MULTILINE)
    assert row is not None
    measured = [*worst(allocator, True), *worst(allocator, False)]
    assert [int(cell) for cell in row.groups()] == pytest.approx(measured, rel=TOLERANCE), (
        "Run python -m studies.tables.worst_cases and put its table into docs/reference/tlsf.md."
    )


@pytest.mark.parametrize("art", [True, False], ids=["art-on", "art-off"])
@pytest.mark.parametrize("other", OTHERS)
def test_our_worst_is_below_theirs(other: str, art: bool) -> None:
    ours, theirs = worst("tlsf_compact", art), worst(other, art)
    assert ours[0] < theirs[0]
    assert ours[1] < theirs[1]
