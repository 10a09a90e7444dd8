"""Allocators with their knobs turned against the contract, and what no build is made of."""

from __future__ import annotations

import pytest

from base import heap_size
from firmware.build import catalogue, host_contract
from firmware.build.cmake_build import BuildError
from firmware.heap.tests.host_build import ON_THE_HOST
from tests.tables import beside, table

VARIANTS = [tuple(row.values()) for row in beside(__file__)["variants"]]
"""Allocators with their knobs turned, and the suite that holds with the defaults only."""


@pytest.mark.parametrize(
    ("allocator", "knobs", "left_out"),
    [VARIANTS[0], *(pytest.param(*variant, marks=pytest.mark.long) for variant in VARIANTS[1:])],
)
def test_heap_with_knobs_turned(allocator: str, knobs: dict[str, int], left_out: str) -> None:
    suites = host_contract.suites(host_contract.build(allocator, knobs))
    assert [suite for suite in suites if not suite.passed and suite.name != left_out] == []
    assert len(suites) > 5


LARGEST = heap_size.LARGEST_BYTES


@pytest.mark.parametrize(
    "allocator",
    [
        pytest.param(name, marks=() if name == "tlsf" else pytest.mark.long)
        for name in ON_THE_HOST
        if catalogue.allocators()[name].objection(LARGEST) is None
    ],
)
def test_alignments_up_to_the_largest_on_a_region_of_8_mib(allocator: str) -> None:
    """Of 1 MiB too: there the offset of an aligned payload no longer fits the mark before it."""
    octaves = {"TLSF_OCTAVES": 17} if "TLSF_OCTAVES" in catalogue.allocators()[allocator].knobs else {}
    folder = host_contract.build(allocator, {"HEAP_BYTES": LARGEST, **octaves})
    (limits,) = (suite for suite in host_contract.suites(folder, only="limits"))
    assert limits.passed, limits.said


@table
def test_an_impossible_knob_is_refused(allocator: str, knob: str, value: int, says: str) -> None:
    with pytest.raises(BuildError) as refused:
        host_contract.build(allocator, {knob: value})
    assert says in " ".join(str(refused.value).split())  # CMake breaks lines
