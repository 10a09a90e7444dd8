"""What must hold between the figures, and the values of a thesis that can be had again to the byte.

E. Auvinen, "Embedded Dynamic Memory Allocator Optimisation", Tampere University 2022.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.fragmentation import published, published_periodic
from analysis.fragmentation.published import FORMATS, HEAP_BYTES, PUBLISHED, SEEDS, label, traces
from analysis.fragmentation.study import Row, Study

PAGE = Path(__file__).parents[3] / "docs" / "FRAGMENTATION.md"

REGION_OVERHEAD_BYTES = {
    "avl": 0,
    "best_fit": 0,
    "first_fit": 0,
    "half_fit_cstm": 0,
    "half_tree": 0,
    "heap_4": 8,
    "o1heap": 160 + 16,
    "umm_malloc": 24,
}
"""Of 86,064 bytes. The indexes' lists lie outside. The thesis has 160 for o1heap, and its blocks
tile multiples of 32 bytes, so that 16 of these 86,064 are left over.
"""


IN_THE_THESIS: dict[str, tuple[dict[str, int], int, int]] = {
    "half_fit_cstm": ({"HDR": 8}, 0, 8),
    "half_tree": ({"HDR": 4}, 8, 4),
}
"""The thesis's header as a knob, and then bytes of the region that no block can use, and of a
block's header. Bins lie outside of the region.
"""


def rows(name: str, allocators: list[str], seeds: int, knobs: dict[str, int] | None = None) -> list[Row]:
    return Study(traces(name, SEEDS[:seeds]), allocators, HEAP_BYTES, knobs or {}).rows()


def test_what_is_neither_used_nor_the_regions_own_is_the_least_largest_block() -> None:
    """On a heap that is large enough, the largest free block is always
    the one that was never used.
    """
    for row in rows("small", list(REGION_OVERHEAD_BYTES), 2):
        own = REGION_OVERHEAD_BYTES[row.allocator]
        assert row.given.region_overhead_bytes == own
        assert row.given.sbbm_bytes == HEAP_BYTES - own - row.given.used_bytes


def test_the_smallest_heap_is_what_is_used_and_the_regions_own() -> None:
    """Where every block that fits is found, a heap with a byte to spare is not the smallest."""
    for row in rows("small", ["best_fit", "first_fit", "half_tree", "heap_4", "o1heap"], 2):
        assert row.smallest is not None
        own = 160 if row.allocator == "o1heap" else REGION_OVERHEAD_BYTES[row.allocator]
        assert row.cost_metric.smallest_bytes == row.smallest.used_bytes + own
        assert row.smallest.failures == 0


@pytest.mark.parametrize("allocator", IN_THE_THESIS)
@pytest.mark.parametrize("name", ["small", "typical"])
def test_both_hold_with_the_headers_of_the_thesis(name: str, allocator: str) -> None:
    knobs, own, header = IN_THE_THESIS[allocator]
    for row in rows(name, [allocator], 2, knobs):
        assert (row.given.region_overhead_bytes, row.given.block_overhead_bytes) == (own, header)
        assert row.given.sbbm_bytes == HEAP_BYTES - own - row.given.used_bytes
        assert row.smallest is not None
        assert row.cost_metric.smallest_bytes == row.smallest.used_bytes + own


def test_a_search_that_rounds_up_needs_more_than_it_uses() -> None:
    """So the thesis's 528 bytes for each heap of Conte's TLSF are exceeded in some of its rows."""
    needs = [row for row in rows("large", ["tlsf_conte"], 2) if row.smallest]
    assert any(
        (row.cost_metric.smallest_bytes or 0) > row.smallest.used_bytes + row.smallest.region_overhead_bytes
        for row in needs
        if row.smallest
    )


def test_the_published_buddy_on_large_blocks_comes_out_to_the_byte() -> None:
    """It needs three blocks of 12,288 bytes, whatever the seed. The thesis has 48 bytes of
    management inside the region, and so has ours if it is laid out alike. Usually it keeps them
    outside, but for the 4 bytes before the first header, rounded up to 8.
    """
    theirs = PUBLISHED["large"]["ublox_buddy"]
    for knobs, inside in (({"REMAINDER_FIRST": 1}, 48), ({}, 8)):
        for row in Study(traces("large", range(1, 4)), ["ublox_buddy"], HEAP_BYTES, knobs).rows():
            assert row.smallest is not None
            assert (row.given.used_bytes, row.given.sbbm_bytes) == (36_864, theirs.sbbm_bytes)
            assert row.smallest.sbbm_bytes == theirs.sbbm_there_bytes
            assert row.cost_metric.smallest_bytes == theirs.cost_metric_bytes - 48 + inside


@pytest.mark.docs
@pytest.mark.parametrize("name", ["small", "large"])
def test_the_page_has_what_comes_out_here(name: str) -> None:
    """Two rows of each of two tables, to keep within a budget; the page says what prints all."""
    buddies = [one for one in FORMATS if one[0] == "ublox_buddy"]
    for line in published.table(name, buddies).splitlines():
        assert line in PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.docs
def test_the_page_has_the_periodic_tasks_that_come_out_here() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for name in published_periodic.PUBLISHED:
        assert all(row in lines for row in published_periodic.table(name).splitlines())


@pytest.mark.docs
def test_the_page_has_every_published_value() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, row in PUBLISHED.items():
        section = page[page.index(f"**{name}**") :]
        for allocator, knobs in FORMATS:
            theirs, begins = row[allocator], label(allocator, knobs)
            (line,) = re.findall(rf"^\| {begins} \| .*$", section.split("\n\n**")[0], re.MULTILINE)
            cells = line.strip("| ").split(" | ")[1::2]
            assert cells == [
                f"{theirs.fragmentation_percent:.2f}",
                f"{theirs.sbbm_bytes:,}",
                f"{theirs.cost_metric_bytes:,}",
                f"{theirs.fragmentation_there_percent:.2f}",
                f"{theirs.sbbm_there_bytes:,}",
            ]
