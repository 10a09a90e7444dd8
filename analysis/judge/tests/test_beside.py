"""Whole checks of runs on the virtual board, beside operations that are written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import scipy

from analysis.judge import beside, limits, stored
from analysis.judge.baseline import Entry, Figures, Operation, Statistics, operations_text
from analysis.judge.beside import difference, latency_check, merged, summed_up
from analysis.judge.rows import Words
from base.metrology.summaries import Summary
from tests.sentences import Sentences
from tests.tables import table

# Cycles, the same again, instructions, probes, interrupts, pulse.
SERVED = Operation("A", 1_600, 1_600, 700, 64, 0, 1_604)
FREED = Operation("F", 310, 310, 150, 0, 0, 314)
BEFORE = [
    SERVED,
    FREED,
    replace(SERVED, hits=1),
    replace(SERVED, cycles=2_000, most_cycles=2_000, pulse=2_004),
]


def entry(*operations: Operation, build: str = "ab", compiler: str = "12", **others: object) -> Entry:
    made_by = {"firmware sha256": build, "compiler": compiler, "probes": "records"}
    figures = Figures.model_validate({
        "exact": True, "repetitions": 1, "image_sha256": "0" * 64, "pulse_beyond_cycles": 4,
        "operations": operations_text(operations, [None] * len(operations), 4), **others,
    })  # fmt: skip
    return Entry(settings={"board folder": "nucleo-f401re"}, made_by=made_by, run=figures)


def run(operations: Sequence[Operation], build: str = "cd", compiler: str = "12", **others: object) -> Any:
    """Stands in for a run that was read, without latencies."""
    return SimpleNamespace(**{
        "operations": list(operations),
        "names": [f"op {number}" for number in range(len(operations))],
        "made_by": {"firmware sha256": build, "compiler": compiler, "probes": "records"},
        "counts_probes": True,
        "manifest": SimpleNamespace(statistics={}), **others,
    })  # fmt: skip


def nothing_for_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if value == "none" else value for name, value in values.items()}


def changed(**by_number: Mapping[str, Any]) -> list[Operation]:
    """BEFORE with other operations: `_1={"cycles": 9}`."""
    return [
        replace(operation, **nothing_for_none(by_number.get(f"_{number}", {})))
        for number, operation in enumerate(BEFORE)
    ]


QUANTITIES = ["outcomes", "probes", "cycles", "pulses", "interrupt", "task", "control"]


@table
def test_a_run_beside_its_baseline(
    operations: dict[str, Any], others: dict[str, Any], states: str, sentences: Sentences
) -> None:
    """The state of each quantity, and how many operations it names."""
    now = run(changed(**operations), **others)
    judged = beside.judge_exact(entry(*BEFORE), BEFORE, now, 10)
    assert [check.name for check in judged] == QUANTITIES
    assert ", ".join(f"{check.state} {check.changed}" for check in judged[:4]) == states
    sentences.hold("\n".join(" ".join((check.sentence, *check.named)) for check in judged))


@table
def test_an_operation_that_ends_otherwise(before: str, now: str, state: str) -> None:
    then = [Operation(before, 9, 9, None, 0, 0, 13), FREED]
    check = beside.judge_exact(entry(*then), then, run([Operation(now, 9, 9, None, 0, 0, 13), FREED]), 9)[0]
    assert (check.state, check.changed) == (state, 1)


def test_where_a_difference_comes_from(sentences: Sentences) -> None:
    """Of what is faster nothing is said."""
    assert not [*beside.notes(BEFORE, run(BEFORE)), *beside.notes(BEFORE, run(changed(_0={"cycles": 1_599})))]
    for now in (
        changed(_0={"hits": 2}, _1={"kind": "N"}),
        changed(
            _0={"cycles": 1_601},
            _1={"cycles": 311, "probes": 1},
            _3={"cycles": 2_001, "instructions": 701},
        ),
    ):
        (note,) = beside.notes(BEFORE, run(now))
        sentences.hold(note)


def test_on_any_board_outcomes_and_probes_are_judged() -> None:
    now = run([replace(SERVED, cycles=9_999, probes=65), replace(FREED, kind="N"), *BEFORE[2:]])
    judged = beside.judge_counts(entry(*BEFORE), BEFORE, now, 9)
    assert [(check.name, check.state) for check in judged] == [("outcomes", "worse"), ("probes", "worse")]
    now.counts_probes = False
    assert [check.name for check in beside.judge_counts(entry(*BEFORE), BEFORE, now, 9)] == ["outcomes"]


def latency(n: int, others: Mapping[str, Any]) -> Any:
    usual = Summary(n=n, mean=400.0, median=390.0, p99_9=1_000.0, max=1_234.5)
    summary = usual.model_copy(update=nothing_for_none(others))
    return SimpleNamespace(
        manifest=SimpleNamespace(statistics={"interrupt_latency_ns": summary}), longest=lambda _: "far"
    )


KNOWN = Statistics(budget=0, n=[5], mean=[400.0], median=[390.0], p99_9=[1_000.0], max=[1_234.5])
BASELINES = {"whole": KNOWN, "cut": Statistics(budget=0, n=[5], mean=[400.0]), "nothing": None}


@table
def test_a_latency_beside_its_baseline(
    before: str, n: int, now: dict[str, Any], unchanged: bool, state: str, sentences: Sentences
) -> None:
    check = latency_check("interrupt", BASELINES[before], latency(n, now), unchanged)
    assert check.state == state
    sentences.hold(check.sentence)


def test_where_an_operation_took_another_time_latencies_are_not_judged() -> None:
    """Another number of probes alone moves no stimulus."""
    statistics: Any = {"quantities": {"interrupt_latency_ns": KNOWN}}
    for now, state in ((changed(_0={"probes": 1}), "worse"), (changed(_0={"pulse": 1}), "not judged")):
        later = run(now, manifest=latency(5, {"max": 1_334.5}).manifest, longest=lambda _: "far")
        judged = beside.judge_exact(entry(*BEFORE, **statistics), BEFORE, later, 9)
        assert next(check.state for check in judged if check.name == "interrupt") == state


MADE_BY = {"firmware sha256": "ab", "compiler": "12", "probes": "records"}


def run_of(
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
    return run_of(
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
    runs = [run_of([10, 20, 30, 40], [3]), run_of([12, 20, 99, 41], [2, 3]), run_of([11, 25, 31, 42], [3])]
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


def entry_of(**others: object) -> Entry:
    figures = Figures.model_validate({
        "exact": False, "repetitions": 4, "image_sha256": "0" * 64, "operations": "", "scatter_cycles": 2,
        **others,
    })  # fmt: skip
    return Entry(settings={"board folder": "nucleo-f401re"}, made_by=MADE_BY, run=figures)


RANGES = ((10, 11), (20, 20), (None, None), *[(1_000, 1_010)] * 5)
RANGED = [Operation("A", low, high, None, 3) for low, high in RANGES]


@table
def test_operations_are_slower_where_more_of_them_are_than_chance_explains(
    cycles: list[int], others: dict[str, Any], state: str, beyond: int, sentences: Sentences
) -> None:
    outcomes, probes, judged = beside.judge_repeated(entry_of(**others), RANGED, [run_of(cycles)], 2)
    assert (outcomes.state, probes.state, judged.state) == ("as good", "as good", state)
    assert judged.sentence.startswith(f"{beyond} of 8 operations take longer")
    sentences.hold(" ".join((judged.sentence, *judged.named)))
    excused = beside.judge_repeated(entry_of(**others), RANGED, [run_of(cycles, made_by=MADE_BY)], 2)[2]
    assert excused.state == ("cannot say" if state == "worse" else "as good")


def test_of_repetitions_the_least_of_an_operation_counts_and_the_most_of_its_faults() -> None:
    slow, more = run_of([11, 20, 7, *[1_013] * 5]), run_of([11, 20, 7, *[1_005] * 5])
    more.operations[0] = Operation("A", 11, 11, None, 4)
    judged = {check.name: check for check in beside.judge_repeated(entry_of(), RANGED, [slow, more], 2)}
    assert judged["operations"].state == "as good"
    assert (judged["probes"].state, judged["probes"].named) == ("worse", ("op 0: probes 3 → 4",))


REPEATED = Statistics(budget=2, mean=[100.0] * 4, max=[200.0] * 4)


@table
def test_statistics_beside_those_of_the_repetitions(
    mean: float, most: float, state: str, budget: float | None, sentences: Sentences
) -> None:
    now = measured(budget, mean=mean, max=most)
    check = beside.judge_repeated(entry_of(quantities={"interrupt_latency_ns": REPEATED}), [], [now], 9)[-1]
    assert (check.name, check.state) == ("interrupt", state)
    sentences.hold(check.sentence)


def test_what_the_baseline_lacks_cannot_be_said() -> None:
    check = beside.judge_repeated(entry_of(), [], [measured(key="dwt_cycles", max=5.0)], 9)[-1]
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
    check = limits.hold(held, stored.rows_of(now), Words(), limits.Allowance())
    assert check.state == state
