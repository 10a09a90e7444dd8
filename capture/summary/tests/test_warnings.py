"""Each warning is tried by planting what it warns of in a run that has none."""

from __future__ import annotations

import polars as pl
import pytest

from capture.summary.warnings import warnings
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, record, small_plan
from capture.verdict.verdict import judge


@pytest.fixture
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=2))


def test_a_sound_run_has_none(run: SyntheticRun) -> None:
    assert warnings(evidence_of(run)) == []


def test_lines_before_boot(run: SyntheticRun) -> None:
    (sentence,) = warnings(evidence_of(run, serial_bytes=b"noise\n" + record("END,1") + run.uart()))
    assert sentence.startswith("2 lines came before BOOT")


def test_a_heap_that_grew(run: SyntheticRun) -> None:
    run.lines = [line.replace("HEAP,65520", "HEAP,65528") for line in run.lines]
    (sentence,) = warnings(evidence_of(run))
    assert sentence.startswith("The heap ended with 65528 free bytes, more than the 65520")


def test_a_stimulus_without_an_answer(run: SyntheticRun) -> None:
    answer = run.stimuli[3][1]
    run.silence("ISR", answer, answer + 60)
    (sentence,) = warnings(evidence_of(run))
    assert sentence.startswith("Of the stimuli came 1 while the interrupt was still waited for: each")


def test_probes_that_nobody_counted(run: SyntheticRun) -> None:
    run.lines[0] = run.lines[0].replace("tlsf", "heap_4")
    (sentence,) = warnings(evidence_of(run))
    assert sentence.startswith("Nobody counted probes")


def test_a_samplerate_below_the_core_clock(run: SyntheticRun) -> None:
    (sentence,) = warnings(evidence_of(run, samplerate_hz=24_000_000))
    assert sentence.startswith("A sample lasts 41.7 ns")


def boots_with(run: SyntheticRun, clock: str, flags: int) -> SyntheticRun:
    run.lines[0] = run.lines[0].replace("bypass,04000000", f"{clock},{flags:08X}")
    return run


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (0x0E00_0000, None),  # a power-up, which sets all three
        (0x0600_0000, "The board was reset by a brown-out before the run"),
        (0x2400_0000, "reset by the independent watchdog before"),
    ],
)
def test_what_reset_the_board(run: SyntheticRun, flags: int, says: str | None) -> None:
    texts = warnings(evidence_of(boots_with(run, "bypass", flags)))
    assert texts == [] if says is None else says in texts[0]


def test_the_chips_own_oscillator(run: SyntheticRun) -> None:
    """Its 4 % are in the budget of the longest section: the fit cannot tell whose clock is off."""
    clock_ns = evidence_of(run).budgets["critical_ns"].clock_ns
    evidence = evidence_of(boots_with(run, "internal", 0x0400_0000))
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
    assert sentence.startswith("The cycle counter was found off at operation 5 and started again")
    assert "so 1 operation lacks cycles by DWT" in sentence
    operations = evidence.joined.operations
    assert operations.filter(pl.col("dwt_cycles").is_null())["seq"].to_list() == [5]
    assert operations["wire_critical_ns"].null_count() == 0
