"""Whole checks of runs on the virtual board, beside operations that are written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from analysis.judge import exact
from analysis.judge.baseline import Entry, Figures, Statistics
from analysis.judge.exact import latency_check
from analysis.judge.operations import Operation, write
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
        "operations": write(operations, [None] * len(operations), 4), **others,
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
    judged = exact.judge(entry(*BEFORE), BEFORE, now, 10)
    assert [check.name for check in judged] == QUANTITIES
    assert ", ".join(f"{check.state} {check.changed}" for check in judged[:4]) == states
    sentences.hold("\n".join(" ".join((check.sentence, *check.named)) for check in judged))


@table
def test_an_operation_that_ends_otherwise(before: str, now: str, state: str) -> None:
    then = [Operation(before, 9, 9, None, 0, 0, 13), FREED]
    check = exact.judge(entry(*then), then, run([Operation(now, 9, 9, None, 0, 0, 13), FREED]), 9)[0]
    assert (check.state, check.changed) == (state, 1)


def test_where_a_difference_comes_from(sentences: Sentences) -> None:
    """Of what is faster nothing is said."""
    assert not [*exact.notes(BEFORE, run(BEFORE)), *exact.notes(BEFORE, run(changed(_0={"cycles": 1_599})))]
    for now in (
        changed(_0={"hits": 2}, _1={"kind": "N"}),
        changed(
            _0={"cycles": 1_601},
            _1={"cycles": 311, "probes": 1},
            _3={"cycles": 2_001, "instructions": 701},
        ),
    ):
        (note,) = exact.notes(BEFORE, run(now))
        sentences.hold(note)


def test_on_any_board_outcomes_and_probes_are_judged() -> None:
    now = run([replace(SERVED, cycles=9_999, probes=65), replace(FREED, kind="N"), *BEFORE[2:]])
    judged = exact.judge_counts(entry(*BEFORE), BEFORE, now, 9)
    assert [(check.name, check.state) for check in judged] == [("outcomes", "worse"), ("probes", "worse")]
    now.counts_probes = False
    assert [check.name for check in exact.judge_counts(entry(*BEFORE), BEFORE, now, 9)] == ["outcomes"]


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
        judged = exact.judge(entry(*BEFORE, **statistics), BEFORE, later, 9)
        assert next(check.state for check in judged if check.name == "interrupt") == state
