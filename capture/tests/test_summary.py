"""Maxima, baselines and intervals, against a plain search and the truth that a run is made from."""

import polars as pl
import pytest

from base.run_folder.quantities import QUANTITIES
from capture.joining.evidence import Evidence
from capture.summary.figures import baseline, intervals
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import CORE_HZ, CRITICAL_COST, SyntheticRun, small_plan
from scenarios import catalogue

SAMPLE_NS = 1e9 / CORE_HZ
BY_KEY = {quantity.key: quantity for quantity in QUANTITIES}


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan())


@pytest.fixture(scope="module")
def evidence(run: SyntheticRun) -> Evidence:
    return evidence_of(run)


def test_the_longest_section_is_told_with_its_operation(run: SyntheticRun, evidence: Evidence) -> None:
    joined = evidence.joined
    quantity = BY_KEY["critical_ns"]
    longest = quantity.maximum(quantity.samples(joined.operations, joined.interrupts), joined.operations)
    measured = [
        row for row in run.plan.operations.iter_rows(named=True) if row["measured"] and row["kind"] == "A"
    ]
    worst = max(measured, key=lambda row: run.truths[row["seq"]].critical_cycles)
    truth = run.truths[worst["seq"]]
    assert longest is not None
    assert longest["value"] == pytest.approx((truth.critical_cycles + CRITICAL_COST) * SAMPLE_NS)
    assert (longest["seq"], longest["depth"], longest["trial"]) == (
        worst["seq"],
        worst["depth"],
        worst["trial"],
    )
    assert (longest["size"], longest["label"], longest["start_sample"]) == (
        worst["size"], worst["label"], truth.start,
    )  # fmt: skip
    assert longest["times"] == 1


def test_an_idle_answer_is_what_the_run_was_made_with(evidence: Evidence) -> None:
    def of(key: str) -> dict[str, float]:
        summary = baseline(evidence, BY_KEY[key])
        assert summary is not None and summary["n"] > 10
        return summary

    assert of("interrupt_latency_ns")["value"] == pytest.approx(17 * SAMPLE_NS)
    assert of("interrupt_latency_hit_ns") == of("interrupt_latency_ns")
    assert of("task_latency_ns")["value"] == pytest.approx(317 * SAMPLE_NS)
    assert of("control_latency_ns")["value"] == pytest.approx(15 * SAMPLE_NS)
    assert of("critical_ns")["value"] == pytest.approx((4 + CRITICAL_COST) * SAMPLE_NS)
    assert of("dwt_cycles") == {"value": 4, "n": 32, "ends": None}
    assert baseline(evidence, BY_KEY["probes"]) is None


def test_a_ramp_has_no_intervals_and_says_why() -> None:
    plan = small_plan()
    assert plan.ramp and not catalogue.load("mem_stress").compile().ramp and not small_plan(depth=1).ramp
    joined = evidence_of(SyntheticRun(plan)).joined
    refused = intervals(joined.samples, ramp=True)
    assert refused["of"] == {} and refused["refused"].endswith("gets no interval.")


def test_intervals_are_around_their_percentiles(evidence: Evidence) -> None:
    joined = evidence.joined
    bounds = intervals(joined.samples, ramp=False)
    assert bounds["refused"] is None and set(bounds["of"]) == set(BY_KEY)
    values = joined.interrupts.filter(~pl.col("control"))["isr_latency_ns"].drop_nulls().sort()
    low, high = bounds["of"]["interrupt_latency_ns"]["median"]
    assert low <= values[(len(values) - 1) // 2] <= high
    assert 0 <= bounds["of"]["interrupt_latency_ns"]["independence_p"] <= 1
    assert bounds["of"]["refused_critical_ns"]["median"] is None
