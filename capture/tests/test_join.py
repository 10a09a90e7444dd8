import numpy as np
import polars as pl
import pytest

from base.run_folder.edges import NS_PER_S
from base.run_folder.tables import INTERRUPTS, OPERATIONS
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import (
    CORE_HZ,
    CRITICAL_COST,
    OPERATION_COST,
    SyntheticRun,
    small_plan,
)

RATES = [(84_000_000, 0), (84_000_000, 30), (24_000_000, 30), (200_000_000, -30)]


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


@pytest.mark.parametrize(("samplerate_hz", "ppm"), RATES)
def test_widths_are_true_to_one_sample(run: SyntheticRun, samplerate_hz: int, ppm: int) -> None:
    evidence = evidence_of(run, samplerate_hz, ppm)
    table = evidence.joined.operations
    rate = samplerate_hz * (1 + ppm * 1e-6) / CORE_HZ
    critical = np.array([truth.critical_cycles + CRITICAL_COST for truth in run.truths]) * rate
    operation = np.array([truth.operation_cycles + OPERATION_COST for truth in run.truths]) * rate
    assert table.height == len(run.truths)
    assert np.abs(table["wire_critical_samples"].to_numpy() - critical).max() < 1
    assert np.abs(table["wire_operation_samples"].to_numpy() - operation).max() < 1
    assert table["wire_critical_ns"].to_list() == pytest.approx(
        [samples * NS_PER_S / samplerate_hz for samples in table["wire_critical_samples"]]
    )
    assert table["start_sample"].to_list() == [int(truth.start * rate) for truth in run.truths]


def test_each_row_carries_its_record_and_its_plan(run: SyntheticRun) -> None:
    table = evidence_of(run).joined.operations
    assert table.schema == OPERATIONS
    assert table["dwt_cycles"].to_list() == [truth.critical_cycles for truth in run.truths]
    assert table["dwt_operation_cycles"].to_list() == [truth.operation_cycles for truth in run.truths]
    for column in ("seq", "kind", "size", "measured", "label", "trial", "depth"):
        assert table[column].to_list() == run.plan.operations[column].to_list()


def test_interrupts_tell_what_they_fell_into(run: SyntheticRun) -> None:
    interrupts = evidence_of(run).joined.interrupts
    assert interrupts.schema == INTERRUPTS
    stimuli = interrupts.filter(~pl.col("control"))
    assert stimuli["sample"].to_list() == [stimulus for stimulus, _ in run.stimuli]
    cycles = [answer - stimulus for stimulus, answer in run.stimuli]
    assert stimuli["isr_latency_ns"].to_list() == pytest.approx([c * NS_PER_S / CORE_HZ for c in cycles])
    assert stimuli["task_latency_ns"].to_list() == pytest.approx(
        [(c + 300) * NS_PER_S / CORE_HZ for c in cycles]
    )
    expected = [
        (_operation_at(run, stimulus), _hit(run, stimulus, answer)) for stimulus, answer in run.stimuli
    ]
    assert list(zip(stimuli["operation_seq"], stimuli["hit"], strict=True)) == expected
    assert {"critical", "operation", "none"} == set(stimuli["hit"])
    control = interrupts.filter("control")
    assert control["isr_latency_ns"].to_list() == pytest.approx([15 * NS_PER_S / CORE_HZ] * len(run.controls))
    assert control["task_latency_ns"].null_count() == control.height
    assert interrupts["isr_merged"].sum() == interrupts["isr_open"].sum() == 0


def _operation_at(run: SyntheticRun, cycle: int) -> int | None:
    """The operation whose OP pulse holds `cycle`."""
    lasts = ((t.seq, range(t.start, t.start + t.operation_cycles + OPERATION_COST)) for t in run.truths)
    return next((seq for seq, span in lasts if cycle in span), None)


def _hit(run: SyntheticRun, stimulus: int, answer: int) -> str:
    for truth in run.truths:
        end = truth.critical_start + truth.critical_cycles + CRITICAL_COST
        if truth.critical_start <= answer and stimulus < end:
            return "critical"
    return "none" if _operation_at(run, stimulus) is None else "operation"


@pytest.mark.parametrize(("samplerate_hz", "margin"), [(CORE_HZ, 2), (24_000_000, 4)])
def test_whether_a_stimulus_met_a_section_is_not_sure_near_its_end(samplerate_hz: int, margin: int) -> None:
    """Sure is what holds with every edge of CRIT moved by the margin, in either direction."""
    evidence = evidence_of(with_sections_that_end_at_stimuli(), samplerate_hz)
    stimuli = evidence.joined.interrupts.filter(~pl.col("control"))
    critical = evidence.wire.critical
    latency = (stimuli["isr_latency_ns"] * samplerate_hz / 1e9).round().cast(pl.Int64)
    expected = []
    for sample, answer in zip(stimuli["sample"], stimuli["sample"] + latency, strict=True):
        met = {
            any(
                begin - by <= answer and sample < end + by
                for begin, end in zip(critical.start, critical.end, strict=True)
                if begin - by < end + by
            )
            for by in (margin, -margin)
        }
        expected.append(len(met) == 1)
    assert stimuli["critical_sure"].to_list() == expected
    assert 4 <= expected.count(False) < len(expected) / 5


def with_sections_that_end_at_stimuli() -> SyntheticRun:
    """A run with pulses on CRIT that end about idle stimuli, up to 20 cycles before or 14 after."""
    run = SyntheticRun(small_plan())
    idle = [
        stimulus
        for stimulus, answer in run.stimuli
        if _operation_at(run, stimulus) is None and answer - stimulus < 20
    ]
    for stimulus, apart in zip(idle, range(-20, 15), strict=False):
        run.pulse("CRIT", stimulus - 40, 40 + apart)
    return run


def test_both_ends_of_an_undecided_interrupt_are_in_the_budget() -> None:
    evidence = evidence_of(with_sections_that_end_at_stimuli())
    stimuli = evidence.joined.interrupts.filter(~pl.col("control"))
    table = stimuli.drop_nulls("isr_latency_ns")
    sure = table.filter("critical_sure")
    for key, classes in (
        ("interrupt_latency_hit_ns", ["critical"]),
        ("interrupt_latency_clear_ns", ["operation", "none"]),
    ):
        undecided = evidence.budgets[key].undecided
        surely = sure.filter(pl.col("hit").is_in(classes))["isr_latency_ns"]
        perhaps = table.filter(~pl.col("critical_sure"))["isr_latency_ns"]
        assert undecided is not None
        assert undecided.n == (len(surely), len(surely) + len(perhaps))
        assert undecided.min == (min(*surely, *perhaps), min(surely))
        assert undecided.max == (max(surely), max(*surely, *perhaps))
    assert evidence.budgets["interrupt_latency_ns"].undecided is None


def test_hits_are_counted_per_operation(run: SyntheticRun) -> None:
    table = evidence_of(run).joined.operations
    control_hits = [
        sum(
            t.critical_start <= a < t.critical_start + t.critical_cycles + CRITICAL_COST
            for _, a in run.controls
        )
        for t in run.truths
    ]
    isr_hits = [
        sum(t.start <= a < t.start + t.operation_cycles + OPERATION_COST for _, a in run.stimuli)
        for t in run.truths
    ]
    assert table["control_hits"].to_list() == control_hits and any(control_hits)
    assert table["isr_hits"].to_list() == isr_hits and any(isr_hits)
    assert table["interrupted"].to_list() == [hits > 0 for hits in control_hits]


def test_a_section_that_another_interrupt_enters_is_interrupted() -> None:
    run = SyntheticRun(small_plan())
    quiet = evidence_of(run).joined.operations.filter(control_hits=0)["seq"][0]
    run.pulse("ISR", run.truths[quiet].critical_start + 20, 20)
    assert evidence_of(run).joined.operations["interrupted"][quiet]


def test_a_section_in_two_pieces_is_summed() -> None:
    run = SyntheticRun(small_plan(depth=2))
    truth = run.truths[3]
    # Split in two: for 10 cycles the section is open, and both pieces carry the markers' cost.
    middle = truth.critical_start + 100
    run.toggles += [(middle, 0), (middle + 10, 0)]
    table = evidence_of(run).joined.operations
    assert table["wire_critical_samples"][3] == truth.critical_cycles + CRITICAL_COST - 10
    assert table["disagreement_cycles"][3] == pytest.approx(-10 - CRITICAL_COST)


def test_records_after_a_gap_keep_their_own_window() -> None:
    run = SyntheticRun(small_plan())
    whole = evidence_of(run).joined.operations
    run.lines = [line for line in run.lines if not line.startswith("OP,5,")]
    assert evidence_of(run).joined.operations.equals(whole.filter(pl.col("seq") != 5))


def test_a_stimulus_that_nobody_answers_to_the_end_is_open() -> None:
    run = SyntheticRun(small_plan())
    answer = run.stimuli[-1][1]
    run.silence("ISR", answer, answer + 60)
    stimuli = evidence_of(run).joined.interrupts.filter(~pl.col("control"))
    assert stimuli["isr_open"].to_list() == [False] * (len(run.stimuli) - 1) + [True]


@pytest.mark.parametrize("instead", [2, 5, None])
def test_numbers_that_do_not_go_on_end_the_join(instead: int | None) -> None:
    """The operations of a plan count from 0: their number is the first that none of them has."""
    run = SyntheticRun(small_plan())
    operations = [line for line in run.lines if line.startswith("OP,")]
    beyond = f"OP,{len(operations)},{operations[6].split(',', 2)[2]}"
    run.lines[run.lines.index(operations[6])] = beyond if instead is None else operations[instead]
    assert evidence_of(run).joined.operations["seq"].to_list() == list(range(6))


def test_a_window_without_a_pulse_has_no_width_and_no_start() -> None:
    run = SyntheticRun(small_plan(depth=2))
    truth = run.truths[3]
    run.silence("OP", truth.start, truth.start + truth.operation_cycles + OPERATION_COST)
    joined = evidence_of(run).joined
    row = joined.operations.row(3, named=True)
    columns = ("wire_operation_samples", "wire_operation_ns", "start_sample")
    assert [row[column] for column in columns] == [None] * 3
    assert joined.stray_windows == (3,)
