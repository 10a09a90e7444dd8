"""Whole checks of runs on a real board, beside repetitions that are written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import scipy

from analysis.judge import limits, repeated, stored
from analysis.judge.baseline import Entry, Figures, Statistics
from analysis.judge.operations import Operation
from analysis.judge.repeated import difference, merged, summed_up
from analysis.judge.rows import Words
from base.metrology.summaries import Summary
from tests.sentences import Sentences
from tests.tables import table

MADE_BY = {"firmware sha256": "ab", "compiler": "12", "probes": "records"}


def run(
    cycles: Sequence[int | None] = (),
    hits: Sequence[int] = (),
    manifest: Mapping[str, object] | None = None,
    **others: object,
) -> Any:
    """A run of allocations with these cycles; `hits` are the numbers of those that were met."""
    operations = [
        Operation("A", length, length, None, 3, int(seq in hits)) for seq, length in enumerate(cycles)
    ]
    return SimpleNamespace(**{
        "operations": operations, "names": [f"op {seq}" for seq in range(len(operations))],
        "counts_probes": True, "made_by": {**MADE_BY, "firmware sha256": "cd"}, "exact": False, **others,
        "manifest": SimpleNamespace(
            **{"statistics": {}, "error_budget": {}, "maxima": {}, **(manifest or {})}
        ),
    })  # fmt: skip


def measured(
    budget: float | None = 1.0, n: int = 5, key: str = "interrupt_latency_ns", **statistics: float | None
) -> Any:
    """A run with one quantity."""
    term = SimpleNamespace(total=SimpleNamespace(of=lambda unit: budget if unit in key else None))
    return run(
        manifest={
            "statistics": {key: Summary.model_validate({"n": n, **statistics})},
            "error_budget": {key: term},
        }
    )


def test_repetitions_are_summed_up_by_quantity() -> None:
    """What all of them tell, with the greatest of the budgets; cycles are no truer than to one."""
    each = ((1.0, 10.0), (3.0, 11.0), (2.0, 12.0))
    runs = [measured(budget, max=most, median=9.0) for budget, most in each]
    expected = {"interrupt_latency_ns": Statistics(budget=3.0, max=[10.0, 11.0, 12.0], median=[9.0] * 3)}
    assert summed_up(runs) == expected
    (shared,) = summed_up([*runs, measured(max=9.0)]).values()
    assert shared.by_name == {"max": [10.0, 11.0, 12.0, 9.0]}
    assert summed_up([*runs, measured(None, max=9.0)]) == {}
    assert summed_up([*runs, measured(n=0)]) == {}
    cycles = [measured(0.25, key="dwt_cycles", max=5), measured(0.5, key="dwt_cycles", max=6)]
    assert summed_up(cycles) == {"dwt_cycles": Statistics(budget=1.0, max=[5, 6])}


def test_repetitions_are_merged_into_the_range_of_each_operation() -> None:
    """Met by an interrupt an operation tells nothing; one that was always met has no cycles."""
    runs = [run([10, 20, 30, 40], [3]), run([12, 20, 99, 41], [2, 3]), run([11, 25, 31, 42], [3])]
    operations, scatter, beyond = merged(runs)
    assert operations == [
        *(Operation("A", low, high, None, 3) for low, high in ((10, 12), (20, 25), (30, 31), (None, None))),
    ]
    # Operation 1 is in the third run 5 above the others, which scatter by 2; no other is beyond.
    assert (scatter, beyond) == (5, 1)


def test_the_uncertainty_of_a_difference_is_that_of_students_t() -> None:
    before, now = [10.0, 12.0, 11.5, 9.0], [14.0, 15.5, 14.5]
    estimate = difference("p99_9", before, now, 2.5, 0.01)
    low, high = scipy.stats.ttest_ind(now, before).confidence_interval(0.98)
    assert estimate.change == pytest.approx((low + high) / 2)
    assert estimate.uncertain == pytest.approx((high - low) / 2 + 2.5)
    assert [estimate.before, estimate.now] == pytest.approx([10.625, 44 / 3])


def entry(**others: object) -> Entry:
    figures = Figures.model_validate({
        "exact": False, "repetitions": 4, "image_sha256": "0" * 64, "operations": "", "scatter_cycles": 2,
        **others,
    })  # fmt: skip
    return Entry(settings={"board folder": "nucleo-f401re"}, made_by=MADE_BY, run=figures)


RANGES = ((10, 11), (20, 20), (None, None), *[(1_000, 1_010)] * 5)
BEFORE = [Operation("A", low, high, None, 3) for low, high in RANGES]


@table
def test_operations_are_slower_where_more_of_them_are_than_chance_explains(
    cycles: list[int], others: dict[str, Any], state: str, beyond: int, sentences: Sentences
) -> None:
    outcomes, probes, judged = repeated.judge(entry(**others), BEFORE, [run(cycles)], 2)
    assert (outcomes.state, probes.state, judged.state) == ("as good", "as good", state)
    assert judged.sentence.startswith(f"{beyond} of 8 operations take longer")
    sentences.hold(" ".join((judged.sentence, *judged.named)))
    excused = repeated.judge(entry(**others), BEFORE, [run(cycles, made_by=MADE_BY)], 2)[2]
    assert excused.state == ("cannot say" if state == "worse" else "as good")


def test_of_repetitions_the_least_of_an_operation_counts_and_the_most_of_its_faults() -> None:
    slow, more = run([11, 20, 7, *[1_013] * 5]), run([11, 20, 7, *[1_005] * 5])
    more.operations[0] = Operation("A", 11, 11, None, 4)
    judged = {check.name: check for check in repeated.judge(entry(), BEFORE, [slow, more], 2)}
    assert judged["operations"].state == "as good"
    assert (judged["probes"].state, judged["probes"].named) == ("worse", ("op 0: probes 3 → 4",))


KNOWN = Statistics(budget=2, mean=[100.0] * 4, max=[200.0] * 4)


@table
def test_statistics_beside_those_of_the_repetitions(
    mean: float, most: float, state: str, budget: float | None, sentences: Sentences
) -> None:
    now = measured(budget, mean=mean, max=most)
    check = repeated.judge(entry(quantities={"interrupt_latency_ns": KNOWN}), [], [now], 9)[-1]
    assert (check.name, check.state) == ("interrupt", state)
    sentences.hold(check.sentence)


def test_what_the_baseline_lacks_cannot_be_said() -> None:
    check = repeated.judge(entry(), [], [measured(key="dwt_cycles", max=5.0)], 9)[-1]
    assert (check.name, check.state) == ("allocate, cycles", "cannot say")


# Limits.


@table
def test_a_limit_beside_the_greatest_value(
    limit: str, key: str, greatest: float, state: str, exact: bool, budget: float | None
) -> None:
    now = measured(budget, key=key, max=greatest)
    now.exact = exact
    if budget is None:
        now.manifest.error_budget.clear()
    (held,) = limits.parse_all(dict([limit.split("=")]), tuple(stored.ON_THE_WIRE), timed=stored.TIMED)
    check = limits.hold(held, stored.rows(now), Words(), limits.Allowance())
    assert check.state == state
