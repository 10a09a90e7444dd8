"""What is told of speeds: medians, the target, and whether others computed too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quality.speeds.campaign import TARGET_CORE_S, Cost, Speed, Speeds, as_text

STORED = {"operations": 30_000, "interrupts": 170_000}
DIRECT = Speed("direct", True, (Cost(0.2, 0.5, 0.01), Cost(0.25, 0.4, 0.02), Cost(0.21, 0.6, 0.01)), STORED)
SIGROK = Speed("sigrok", False, (Cost(0.75, 1.0, 0.75),), {"run folder": 1_000_000})
FOUND = Speeds("mem_stress", 12, 2, 0.1, (SIGROK, DIRECT))


def test_a_way_is_the_median_of_its_turns() -> None:
    told = DIRECT.document()
    assert (told["core_s"], told["core_s_least"], told["core_s_most"]) == (0.21, 0.2, 0.25)
    assert told["conductor_s"] == 0.01
    assert told["runs_per_minute_per_core"] == pytest.approx(285.7, abs=0.1)
    assert told["runs_per_minute"] == 120


def test_the_table_has_each_way_with_its_bytes() -> None:
    lines = as_text(FOUND).splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["sigrok", "direct"]
    assert lines[3].split() == ["direct", "0.210", "(0.200", "to", "0.250)", "0.010", "286", "120"]
    assert lines[-1] == "direct: 200,000 bytes stored a run (operations 30,000, interrupts 170,000)"


def test_direct_ways_stand_beside_the_target() -> None:
    slow = replace(DIRECT, turns=(Cost(TARGET_CORE_S, 1.0, 0.0),))
    assert "direct: 0.210 s, below the 0.3 s that it may take" in as_text(FOUND)
    assert "sigrok: 0.750" not in as_text(FOUND)
    assert "direct: 0.300 s, not below the 0.3 s" in as_text(replace(FOUND, ways=(slow,)))
    assert "direct: 0.300 s; on a machine at rest it may take 0.3 s" in as_text(
        replace(FOUND, ways=(slow,), load=4.0)
    )


@pytest.mark.parametrize(("load", "disturbed"), [(0.0, False), (0.49, False), (0.5, True), (13.8, True)])
def test_it_says_when_others_computed_too(load: float, disturbed: bool) -> None:
    found = replace(FOUND, load=load)
    assert found.document()["disturbed"] is disturbed
    assert ("Others computed too" in as_text(found)) is disturbed
