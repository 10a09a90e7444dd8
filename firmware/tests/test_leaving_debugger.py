"""A debugger leaves at any moment of a run: its cycles are right, or it says so."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from base.run_folder.edges import NS_PER_S
from base.run_folder.manifest import ToolReport
from base.run_folder.records import CostRecord, CounterOffRecord, FailRecord
from capture.acquisition.source import longest_s
from capture.joining.evidence import Evidence, decode
from capture.verdict.verdict import judge
from firmware.build import boards
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.operations import DEFAULT_BAUD
from scenarios.plan import Plan
from simulator import captured

CORE_HZ = boards.default().core_hz
RUN_MS = 50
LONGEST_WAIT_MS = 630 + 130
"""As docs/reference/wiring.md says."""
BESIDE_THE_COUNTER = 4
"""22 cycles on the wire where CYCCNT counts 18."""


def plan(waits: bool) -> Plan:
    return (
        catalogue.load("mem_frag", {"depth": 4})
        .compile()
        .recorded_by("uart", DEFAULT_BAUD, debugger_leaves=waits)
    )


@cache
def seen(waits: bool, leaves_us: int | None) -> Evidence:
    """What comes of a run that a debugger leaves so long after the reset; None: none was there."""
    waiting = plan(waits)
    samples = round(CORE_HZ * (longest_s(waiting, CORE_HZ) + (LONGEST_WAIT_MS / 1000 if waits else 0)))
    capture = captured.capture(
        firmware.build("tlsf").elf,
        waiting.image,
        CORE_HZ,
        samples,
        counts={},
        count_window="",
        instructions_while="",
        options=() if leaves_us is None else ("--debugger-leaves", f"{leaves_us}us"),
    )
    assert capture.status == 0, capture.words
    return decode(waiting, ToolReport(asked_samples=samples), capture.edges, capture.uart)


def beside_the_counter(evidence: Evidence) -> set[int]:
    """By how many cycles the wire and the counter differ, of each critical section that has both.

    A sample is a cycle, so the wire is exact, and knows nothing of the counter.
    """
    operations = evidence.joined.operations.drop_nulls(["dwt_cycles", "wire_critical_ns"])
    wire = (operations["wire_critical_ns"] * CORE_HZ / NS_PER_S).round().cast(int)
    return set(wire - operations["dwt_cycles"])


@pytest.mark.parametrize("leaves_us", [100, 40_000, 240_000])
def test_a_start_that_waits_loses_nothing(leaves_us: int) -> None:
    waited = seen(True, leaves_us)
    assert judge(waited) == ("complete", ())
    assert waited.log.all(CounterOffRecord) == ()
    assert beside_the_counter(waited) == beside_the_counter(seen(False, None)) == {BESIDE_THE_COUNTER}
    assert waited.joined.operations["dwt_cycles"].null_count() == 0
    start = waited.wire.start_frame
    assert start is not None and start[0] > leaves_us * CORE_HZ / 1e6


@pytest.mark.long
def test_at_any_moment_the_cycles_are_right_or_the_run_says_so() -> None:
    outcomes: Counter[tuple[str, int]] = Counter()
    failures: set[str] = set()
    for leaves_us in range(500, RUN_MS * 1000, 1_750):
        evidence = seen(False, leaves_us)
        verdict, _ = judge(evidence)
        off = evidence.log.all(CounterOffRecord)
        outcomes[verdict, len(off)] += 1
        failures |= {record.reason for record in evidence.log.all(FailRecord)}
        if verdict == "complete":
            without = sum(record.operations for record in off)
            assert beside_the_counter(evidence) == {BESIDE_THE_COUNTER}, leaves_us
            assert evidence.joined.operations["dwt_cycles"].null_count() == without, leaves_us
            costs = zip(evidence.log.all(CostRecord), seen(False, None).log.all(CostRecord), strict=True)
            assert all(0 < cost.least_cycles == alone.least_cycles for cost, alone in costs), leaves_us
    assert failures == {"dwt"}  # while the counter is proven
    assert outcomes["complete", 1] > 2 and outcomes["inconclusive", 1] > 2, outcomes
