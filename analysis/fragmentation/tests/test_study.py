"""What must hold between the figures, and the values of a thesis that can be had again to the byte.

E. Auvinen, "Embedded Dynamic Memory Allocator Optimisation", Tampere University 2022.
"""

from __future__ import annotations

from analysis.fragmentation.study import Row, Study
from analysis.fragmentation.tests.conftest import HEAP_BYTES, thesis_traces
from studies.reproduce.published import find

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


def rows(name: str, allocators: list[str], seeds: int, knobs: dict[str, int] | None = None) -> list[Row]:
    return Study(thesis_traces(name, range(1, seeds + 1)), allocators, HEAP_BYTES, knobs or {}).rows()


def test_the_smallest_heap_is_what_is_used_and_the_regions_own() -> None:
    """Where every block that fits is found, a heap with a byte to spare is not the smallest."""
    for row in rows("small", ["best_fit", "first_fit", "half_tree", "heap_4", "o1heap"], 2):
        assert row.smallest is not None
        own = 160 if row.allocator == "o1heap" else REGION_OVERHEAD_BYTES[row.allocator]
        assert row.cost_metric.smallest_bytes == row.smallest.used_bytes + own
        assert row.smallest.failures == 0


def test_the_published_buddy_on_large_blocks_comes_out_to_the_byte() -> None:
    """It needs three blocks of 12,288 bytes, whatever the seed. The thesis has 48 bytes of
    management inside the region, and so has ours if it is laid out alike. Usually it keeps them
    outside, but for the 4 bytes before the first header, rounded up to 8.
    """
    large = find("thesis-b-heap")[1].part_called("Large")
    theirs = {column: large.printed("Buddy", column) for column in large.columns}
    for knobs, inside in (({"REMAINDER_FIRST": 1}, 48), ({}, 8)):
        for row in Study(thesis_traces("large", range(1, 4)), ["ublox_buddy"], HEAP_BYTES, knobs).rows():
            assert row.smallest is not None
            assert (row.given.used_bytes, row.given.sbbm_bytes) == (theirs["used"], theirs["SBMM"])
            assert (row.smallest.used_bytes, row.smallest.sbbm_bytes) == (36_864, theirs["SBMM there"])
            assert row.cost_metric.smallest_bytes == (theirs["Cost Metric"] or 0) - 48 + inside
