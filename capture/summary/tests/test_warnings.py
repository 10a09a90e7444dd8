"""Each warning is tried by planting what it warns of in a run that has none."""

from __future__ import annotations

import pytest

from capture.summary.warnings import warnings
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import BIT, SyntheticRun, record, small_plan


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
    run.toggles = [t for t in run.toggles if not (t[1] == BIT["ISR"] and answer <= t[0] <= answer + 60)]
    (sentence,) = warnings(evidence_of(run))
    assert sentence.startswith("1 stimuli were followed by another")


def test_probes_that_nobody_counted(run: SyntheticRun) -> None:
    run.lines[0] = run.lines[0].replace("tlsf", "heap_4")
    (sentence,) = warnings(evidence_of(run))
    assert sentence.startswith("Nobody counted probes")


def test_a_samplerate_below_the_core_clock(run: SyntheticRun) -> None:
    (sentence,) = warnings(evidence_of(run, samplerate_hz=24_000_000))
    assert sentence.startswith("A sample lasts 41.7 ns")
