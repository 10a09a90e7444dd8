"""Two published workloads on every allocator of ours, against the integers of A. Vishwakarma, "A
Heap Without a Tail" (VaiOS on a Nucleo-F401RE), and against each index's own rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from base.paths import ROOT
from firmware.build import catalogue
from firmware.heap.tests.host_build import ON_THE_HOST, of_each_kind
from firmware.heap.tests.workloads import DEPTHS, TRIALS, frag_probes, rows, stress_figures, table

README = ROOT / "firmware" / "heap" / "README.md"
STRESS_PROBES = {"seglist": (1, 6, 8), "tlsf": (1, 2, 2)}
"""Median, p99 and worst, as published for these two."""
FRAG_PROBES: dict[str, Callable[[int, int], int]] = {
    "seglist": lambda depth, _: depth + 3,  # as published
    "tlsf": lambda _, __: 2,  # as published
    "tlsf_compact": lambda _, __: 2,  # the same search: victims and the rest lie in other octaves
    # The rest of the region was filed last, but at the first trial the victim was.
    "first_fit": lambda _, trial: 2 if trial == 0 else 1,
    "best_fit": lambda depth, _: depth + 1,  # all victims and the rest
    "first_fit_ordered": lambda depth, _: depth + 1,  # the victims lie before the rest
    "avl": lambda _, __: 2,  # the node of 72 bytes and the rest
    "half_fit": lambda _, __: 1,  # the bitmap
    "half_fit_cstm": lambda depth, _: depth + 1,  # all victims and the bitmap
    # A victim's block holds 120 bytes too: both are 128 with the header.
    "binary_buddy": lambda _, __: 1,
    # 256 pairs take 768 of 1,365 units. Of the last block that was halved, blocks of 64, 16, 4 and
    # 1 units are left, and that of 4 units, 192 bytes, is of the request's own level.
    "ublox_buddy": lambda _, __: 1,
    "pool": lambda _, __: 1,  # the bitmap
    "half_tree": lambda _, __: 2,  # the newest victim, which is the designated one, and the bitmap
}
"""By depth and trial (from 0), from each index's own rule."""


@pytest.mark.parametrize(
    "allocator",
    of_each_kind(name for name in ON_THE_HOST if "frees" in catalogue.allocators()[name].promises),
)
def test_the_published_workloads_are_served_with_the_probes_of_the_rule(allocator: str) -> None:
    stress, frag = rows(allocator, "mem_stress"), rows(allocator, "mem_frag")
    assert Counter(row.kind for row in stress) == {"A": 617, "F": 583}
    assert stress[-1].live == 617 - 583
    assert not any(row.probes for row in stress if row.kind == "F")
    assert stress_figures(stress) == STRESS_PROBES.get(allocator, stress_figures(stress))
    assert {row.kind for row in frag} == {"A", "F"}
    probes = frag_probes(frag)
    assert len(probes) == DEPTHS * TRIALS
    if rule := FRAG_PROBES.get(allocator):
        assert probes == [rule(depth, trial) for depth in range(1, DEPTHS + 1) for trial in range(TRIALS)]


@pytest.mark.long
def test_the_table_of_the_readme_is_what_they_count() -> None:
    assert table() in README.read_text(encoding="utf-8")


def test_each_block_of_two_workloads_comes_from_its_own_pool() -> None:
    """So the bytes in use are those of requests rounded up to powers of two. The most blocks that
    live at once, by size, are those of the README.
    """
    for workload, words in (("mem_stress", "live at most, in mem_stress"), ("mem_frag", "in mem_frag")):
        blocks, most = Counter[int](), Counter[int]()
        for row in rows("pool", workload):
            blocks[max(16, 1 << (row.size - 1).bit_length())] += 1 if row.kind == "A" else -1
            assert row.bytes_in_use == sum(size * count for size, count in blocks.items())
            most |= blocks
        cells = " | ".join(str(most[16 << number]) for number in range(9))
        assert f"| {words} | {cells} |" in README.read_text(encoding="utf-8")
