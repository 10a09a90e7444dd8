"""Two published workloads on every allocator of ours, against the integers of A. Vishwakarma, "A
Heap Without a Tail" (VaiOS on a Nucleo-F401RE), and against each index's own rule."""

from __future__ import annotations

from collections import Counter

import pytest

from base.paths import ROOT
from firmware.build import catalogue
from firmware.heap.tests.host_build import ON_THE_HOST
from firmware.heap.tests.workloads import DEPTHS, TRIALS, frag_probes, rows, stress_figures, table
from tests.tables import beside

README = ROOT / "firmware" / "heap" / "README.md"
STRESS_PROBES: dict[str, tuple[int, int, int]] = beside(__file__)["stress"]
"""Median, p99 and worst, as published for these two."""
FRAG_PROBES: dict[str, dict[str, int]] = beside(__file__)["frag"]
"""At depth 0 of a first trial, for each further depth and trial, from each index's own rule."""


@pytest.mark.parametrize(
    "allocator",
    [
        pytest.param(name, marks=() if name in {*catalogue.EACH_KIND, *STRESS_PROBES} else pytest.mark.long)
        for name in ON_THE_HOST
        if "frees" in catalogue.allocators()[name].promises
    ],
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
        assert probes == [
            rule["first"] + rule.get("deeper", 0) * depth + rule.get("later", 0) * (trial > 0)
            for depth in range(1, DEPTHS + 1)
            for trial in range(TRIALS)
        ]


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
