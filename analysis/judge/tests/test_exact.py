"""Whole checks of runs on the virtual board, beside operations that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.judge import exact
from analysis.judge.baseline import Entry, Figures, Statistics
from analysis.judge.checks import Check
from analysis.judge.exact import latency_check
from analysis.judge.operations import Operation, write
from base.metrology.quantiles import Summary

BYTE = "The firmware is the same to the byte, so this is no change of the allocator."
COMPILED = "The compiler changed, so this may be its work and is not put down to the allocator."
# Cycles, the same again, instructions, probes, interrupts, pulse.
SERVED = Operation("A", 1_600, 1_600, 700, 64, 0, 1_604)
FREED = Operation("F", 310, 310, 150, 0, 0, 314)
BEFORE = [
    SERVED,
    FREED,
    replace(SERVED, hits=1),
    replace(SERVED, cycles=2_000, most_cycles=2_000, pulse=2_004),
]


def entry(*operations: Operation, build: str = "ab", compiler: str = "12", **others: Any) -> Entry:
    made_by = {"firmware sha256": build, "compiler": compiler, "probes": "records"}
    figures = Figures(**{
        "exact": True, "repetitions": 1, "image_sha256": "0" * 64, "pulse_beyond_cycles": 4,
        "operations": write(operations, [None] * len(operations), 4), **others,
    })  # fmt: skip
    return Entry(settings={"board folder": "nucleo-f401re"}, made_by=made_by, run=figures)


def run(operations: Sequence[Operation], build: str = "cd", compiler: str = "12", **others: Any) -> Any:
    """Stands in for a run that was read, without latencies."""
    return SimpleNamespace(**{
        "operations": list(operations),
        "names": [f"op {number}" for number in range(len(operations))],
        "made_by": {"firmware sha256": build, "compiler": compiler, "probes": "records"},
        "counts_probes": True,
        "manifest": SimpleNamespace(statistics={}), **others,
    })  # fmt: skip


def changed(**by_number: Any) -> list[Operation]:
    """BEFORE with other operations: `_1={"cycles": 9}`."""
    return [replace(operation, **by_number.get(f"_{number}", {})) for number, operation in enumerate(BEFORE)]


def checks(now: Any, most: int = 10) -> dict[str, Check]:
    judged = exact.judge(entry(*BEFORE), BEFORE, now, most)
    assert [check.name for check in judged] == [
        "outcomes",
        "probes",
        "cycles",
        "pulses",
        "interrupt",
        "task",
        "control",
    ]
    return {check.name: check for check in judged}


EQUAL = "Those of all 4 operations are as in the baseline."
SLOWER = "1 of 4 operations take longer, 0 less long; +77 cycles in all, most in op 0: +77"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (run(BEFORE), {
            "outcomes": ("as good", "All 4 operations end as before."),
            **dict.fromkeys(("probes", "cycles", "pulses"), ("as good", EQUAL)),
            **{
                word: ("not judged", f"No {word} latency was measured.")
                for word in ("interrupt", "task", "control")
            },
        }),
        # Longer on the wire as in cycles: the pulses name nothing.
        (run(changed(_0={"cycles": 1_677, "pulse": 1_681})), {
            "cycles": ("worse", f"{SLOWER}.", ("op 0: 1,600 → 1,677 cycles",), 1),
            "pulses": ("worse", "1 of 4 operations have a longer pulse, 0 a shorter one; +77 samples in "
                                "all, most in "
                       "op 0: +77: as the cycles say."),
            "probes": ("as good", EQUAL),
        }),
        (run(changed(_0={"cycles": 1_677, "pulse": 1_681}), build="ab"), {
            "cycles": ("cannot say", f"{SLOWER}. {BYTE}", ("op 0: 1,600 → 1,677 cycles",), 1),
        }),
        (run(changed(_0={"cycles": 1_677, "pulse": 1_681}), compiler="13"), {
            "cycles": ("cannot say", f"{SLOWER}. {COMPILED}", ("op 0: 1,600 → 1,677 cycles",), 1),
        }),
        # More probes are the allocator's, whatever the compiler, unless the firmware is the same.
        (run(changed(_1={"probes": 2}, _3={"probes": 60}), compiler="13"), {
            "probes": ("worse", "1 of 4 operations look at more blocks, 1 at fewer; -2 probes in all, "
                                "most in op 1: +2.",
                       ("op 1: probes 0 → 2",), 1),
            "cycles": ("as good", EQUAL),
        }),
        (run(changed(_1={"probes": 2}), build="ab"), {
            "probes": ("cannot say", "1 of 4 operations look at more blocks, 0 at fewer; +2 probes in "
                                     "all, most in "
                       f"op 1: +2. {BYTE}", ("op 1: probes 0 → 2",), 1),
        }),
        (run(changed(
            _0={"probes": 63, "cycles": 1_590, "pulse": 1_594}, _3={"cycles": 1_999, "pulse": 2_003}
        )), {
            "probes": ("better", "0 of 4 operations look at more blocks, 1 at fewer; -1 probes in all.",
                       ("op 0: 1,600 → 1,590 cycles, probes 64 → 63",), 1),
            "cycles": ("better", "0 of 4 operations take longer, 2 less long; -11 cycles in all.",
                       ("op 0: 1,600 → 1,590 cycles, probes 64 → 63", "op 3: 2,000 → 1,999 cycles"), 2),
            "pulses": ("better", "0 of 4 operations have a longer pulse, 2 a shorter one; -11 samples in "
                                 "all: as the "
                       "cycles say."),
        }),
        # The wire says something else than the counter.
        (run(changed(_0={"pulse": 1_606}, _1={"pulse": None})), {
            "cycles": ("as good", EQUAL),
            "pulses": ("worse", "1 of 4 operations have a longer pulse, 0 a shorter one; +2 samples in "
                                "all, most in "
                       "op 0: +2.", ("op 0: pulse 1,604 samples → 1,606 samples",), 1),
        }),
        # An interrupt met an operation now, or the one that was met executed as many instructions.
        (run(changed(_0={"cycles": 1_900, "hits": 1}, _2={"cycles": 1_700})), {
            "cycles": ("as good", "Those of 2 of 4 operations are as in the baseline."),
            "probes": ("as good", EQUAL),
        }),
        (run(changed(_2={"cycles": 1_700, "instructions": 750, "pulse": 1_704})), {
            "cycles": ("worse", "1 of 4 operations take longer, 0 less long; +100 cycles in all, most in "
                                "op 2: +100.",
                       ("op 2: 1,600 → 1,700 cycles",), 1),
        }),
        (run(changed(_0={"kind": "O"}, _1={"kind": "N"}, _3={"kind": "E"})), {
            "outcomes": ("worse", "3 of 4 operations end otherwise, 3 of them for the worse.",
                         ("op 0: served → refused for lack of memory", "op 1: freed → with nothing to free",
                          "op 3: served → refused by the allocator"), 3),
        }),
        (run(BEFORE, counts_probes=False), {"probes": ("not judged", "Probes are not counted in both.")}),
        (run(BEFORE, made_by={"probes": "counted by the virtual board"}), {
            "probes": ("not judged", "Probes are not counted in both."),
        }),
    ],
)  # fmt: skip
def test_a_run_beside_its_baseline(now: Any, expected: dict[str, tuple[Any, ...]]) -> None:
    judged = checks(now)
    for quantity, expectation in expected.items():
        assert judged[quantity] == Check(quantity, *expectation)


def test_so_many_operations_are_named_as_were_asked_for() -> None:
    slower = [replace(operation, cycles=(operation.cycles or 0) + 9) for operation in BEFORE]
    check = checks(run(slower), most=2)["cycles"]
    assert (len(check.named), check.changed) == (2, 3)
    assert check.sentence.startswith(
        "3 of 4 operations take longer, 0 less long; +27 cycles in all, most in op 0: +9"
    )


@pytest.mark.parametrize(
    ("before", "now", "state", "words"),
    [
        ("O", "A", "better", "refused for lack of memory → served"),
        ("N", "S", "worse", "with nothing to free → skipped"),
        ("E", "K", "better", "refused by the allocator → called"),
        ("K", "S", "worse", "called → skipped"),
        ("F", "A", "worse", "freed → served"),
    ],
)
def test_an_operation_that_ends_otherwise(before: str, now: str, state: str, words: str) -> None:
    then = [Operation(before, 9, 9, None, 0, 0, 13), FREED]
    check = exact.judge(entry(*then), then, run([Operation(now, 9, 9, None, 0, 0, 13), FREED]), 9)[0]
    worse = int(state == "worse")
    sentence = f"1 of 2 operations end otherwise, {worse} of them for the worse."
    assert check == Check("outcomes", state, sentence, (f"op 0: {words}",), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("now", "sentences"),
    [
        (run(BEFORE), []),
        (run(changed(_0={"hits": 2}, _1={"kind": "N"})), [
            "2 operations are met by interrupts otherwise than in the baseline: of these, cycles and "
            "pulses are not "
            "compared."
        ]),
        (run(changed(_0={"hits": 2})), [
            "1 operation is met by interrupts otherwise than in the baseline: of these, cycles and pulses "
            "are not "
            "compared."
        ]),
        (run(changed(_0={"cycles": 1_601})), [
            "All of the 1 slower operations look at as many blocks and execute as many instructions as "
            "before: the "
            "code lies elsewhere in the flash, or its caches hold something else."
        ]),
        (run(changed(
            _0={"cycles": 1_601}, _1={"cycles": 311, "probes": 1}, _3={"cycles": 2_001, "instructions": 701}
        )), [
            "1 of the 3 slower operations look at as many blocks and execute as many instructions as "
            "before: the "
            "code lies elsewhere in the flash, or its caches hold something else."
        ]),
        (run(changed(_0={"cycles": 1_599})), []),
    ],
)  # fmt: skip
def test_where_a_difference_comes_from(now: Any, sentences: list[str]) -> None:
    assert list(exact.notes(BEFORE, now)) == sentences


def test_what_is_met_more_often_is_told_with_its_counts() -> None:
    (pair,) = exact.changed(BEFORE, run(changed(_0={"hits": 2, "probes": 70, "pulse": 9})))
    assert str(pair) == "op 0: met by 0 → 2 interrupts, probes 64 → 70"


def test_on_any_board_outcomes_and_probes_are_judged() -> None:
    now = run([replace(SERVED, cycles=9_999, probes=65), replace(FREED, kind="N"), *BEFORE[2:]])
    assert exact.judge_counts(entry(*BEFORE), BEFORE, now, 9) == [
        Check("outcomes", "worse", "1 of 4 operations end otherwise, 1 of them for the worse.",
              ("op 1: freed → with nothing to free",), 1),
        Check("probes", "worse", "1 of 4 operations look at more blocks, 0 at fewer; +1 probes in all, "
                                 "most in op 0: +1.",
              ("op 0: probes 64 → 65",), 1),
    ]  # fmt: skip
    now.counts_probes = False
    assert [check.name for check in exact.judge_counts(entry(*BEFORE), BEFORE, now, 9)] == ["outcomes"]


def latency(n: int, **others: float) -> Any:
    usual = Summary(n=n, mean=400.0, median=390.0, p99_9=1_000.0, max=1_234.5)
    summary = usual.model_copy(update=others)
    return SimpleNamespace(
        manifest=SimpleNamespace(statistics={"interrupt_latency_ns": summary}), longest=lambda _: "far"
    )


KNOWN = Statistics(budget=0, n=[5], mean=[400.0], median=[390.0], p99_9=[1_000.0], max=[1_234.5])
MET = "Stimuli met other operations than in the baseline, so it is told and not judged."
MAX = "The interrupt latency changed: max 1,234.5 → 1,334.5 ns."


@pytest.mark.parametrize(
    ("before", "now", "unchanged", "check"),
    [
        (KNOWN, latency(5), True, ("as good", "The interrupt latency is that of the baseline.")),
        (KNOWN, latency(5, max=1_334.5), True, ("worse", MAX, ("the longest: far",), 1)),
        (KNOWN, latency(5, max=1_334.5), False, ("not judged", f"{MAX} {MET}")),
        (KNOWN, latency(5, max=1_134.5, p99_9=999.0), True,
         ("better", "The interrupt latency changed: p99.9 1,000.0 → 999.0 ns, max 1,234.5 → 1,134.5 ns.")),
        # Fewer samples are worse, more are none the worse.
        (KNOWN, latency(4), True,
         ("worse", "The interrupt latency changed: n 5 → 4.", ("the longest: far",), 1)),
        (KNOWN, latency(6), True, ("better", "The interrupt latency changed: n 5 → 6.")),
        (KNOWN, latency(5, p99_9=None), True,  # type: ignore[arg-type]
         ("worse", "The interrupt latency changed: p99.9 1,000.0 → none ns.", ("the longest: far",), 1)),
        (KNOWN, latency(0), True,
         ("worse", "No interrupt latency was measured, and the baseline has some.")),
        (None, latency(5), True, ("cannot say", "The baseline has nothing of it; write it anew with "
                                                "--update.")),
        # A file that was cut short compares nothing of the rest.
        (Statistics(budget=0, n=[5], mean=[400.0]), latency(5), True,
         ("cannot say", "The baseline has not all of it; write it anew with --update.")),
        (None, latency(0), True, ("not judged", "No interrupt latency was measured.")),
    ],
)  # fmt: skip
def test_a_latency_beside_its_baseline(
    before: Statistics | None, now: Any, unchanged: bool, check: tuple[Any, ...]
) -> None:
    assert latency_check("interrupt", before, now, unchanged) == Check("interrupt", *check)


def test_where_an_operation_took_another_time_latencies_are_not_judged() -> None:
    """Another number of probes alone moves no stimulus."""
    statistics: Any = {"quantities": {"interrupt_latency_ns": KNOWN}}
    for now, state in ((changed(_0={"probes": 1}), "worse"), (changed(_0={"pulse": 1}), "not judged")):
        later = run(now, manifest=latency(5, max=1_334.5).manifest, longest=lambda _: "far")
        judged = exact.judge(entry(*BEFORE, **statistics), BEFORE, later, 9)
        assert next(check.state for check in judged if check.name == "interrupt") == state
