"""Each warning is tried by planting what it warns of in a run that has none."""

from __future__ import annotations

import polars as pl
import pytest

from capture.summary.warnings import warnings
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, record, small_plan
from capture.verdict.verdict import judge
from tests.tables import table


@pytest.fixture
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=2))


def test_a_sound_run_has_none(run: SyntheticRun) -> None:
    assert [*warnings(evidence_of(run))] == []


def test_lines_before_boot(run: SyntheticRun) -> None:
    (sentence,) = warnings(evidence_of(run, serial_bytes=b"noise\n" + record("END,1") + run.uart()))
    assert sentence.startswith("2 lines came before BOOT, 0 of them records of an earlier run")


@table
def test_what_a_record_tells(run: SyntheticRun, old: str, new: str, says: str) -> None:
    run.lines = [line.replace(old, new) for line in run.lines]
    assert [sentence[: len(says)] for sentence in warnings(evidence_of(run))] == ([says] if says else [])


def test_a_stimulus_without_an_answer(run: SyntheticRun) -> None:
    answer = run.stimuli[3][1]
    run.silence("ISR", answer, answer + 60)
    (sentence,) = warnings(evidence_of(run))
    assert sentence.startswith("Of the stimuli came 1 while the interrupt was still waited for, and ")


def test_a_samplerate_below_the_core_clock(run: SyntheticRun) -> None:
    (sentence,) = warnings(evidence_of(run, samplerate_hz=24_000_000))
    assert sentence.startswith("A sample lasts 41.7 ns")


def test_the_chips_own_oscillator(run: SyntheticRun) -> None:
    """Its 4 % are in the budget of the longest section: the fit cannot tell whose clock is off."""
    clock_ns = evidence_of(run).budgets["critical_ns"].clock_ns
    run.lines[0] = run.lines[0].replace("bypass", "internal")
    evidence = evidence_of(run)
    assert judge(evidence) == ("complete", ())
    (sentence,) = warnings(evidence)
    assert "HSI" in sentence and "4% off" in sentence
    longest_ns = evidence.joined.samples["critical_ns"]["wire_critical_ns"].max()
    own_ns = evidence.budgets["critical_ns"].clock_ns
    assert clock_ns is not None and own_ns is not None and isinstance(longest_ns, float)
    assert own_ns - clock_ns == pytest.approx(0.04 * longest_ns)


def test_a_counter_that_stopped_costs_one_operation_its_witness(run: SyntheticRun) -> None:
    at = run.line_of("OP,5,")
    seq, kind, size, _, _, *rest = run.lines[at].split(",")[1:]
    run.lines[at] = ",".join(("OP", seq, kind, size, "17", "23", *rest))
    assert run.lines[at + 1].startswith("IRQ,5,")
    run.lines.insert(at + 2, "OFF,5,1")
    evidence = evidence_of(run)
    assert judge(evidence) == ("complete", ())
    (sentence,) = warnings(evidence)
    assert sentence.startswith("The cycle counter was found off at operations 5 to 5 and started again")
    assert "so 1 operations lack cycles by DWT" in sentence
    operations = evidence.joined.operations
    assert operations.filter(pl.col("dwt_cycles").is_null())["seq"].to_list() == [5]
    assert operations["wire_critical_ns"].null_count() == 0
