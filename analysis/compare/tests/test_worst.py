"""What a greatest value means: whether the code is worse, or the budgets or chance explain it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.compare.operations import join
from analysis.compare.pairing import Run, Stored
from analysis.compare.worst import Finding, Worst, distributions, worst_cases
from base.run_folder.quantities import DWT_CYCLES
from base.run_folder.tables import INTERRUPTS, OPERATIONS


def run(
    cycles: Sequence[int], budget: float | None, hits: Sequence[int] = (), probes: int | None = None
) -> Run:
    """A run of allocations; `hits` are the numbers of those that a control interrupt met."""
    n = len(cycles)
    columns = {
        "seq": range(n),
        "kind": ["A"] * n,
        "size": [8] * n,
        "measured": [True] * n,
        "dwt_cycles": cycles,
        "probes": [probes] * n,
        "isr_hits": [0] * n,
        "control_hits": [int(seq in hits) for seq in range(n)],
    }
    table = pl.DataFrame(
        {name: columns.get(name, [None] * n) for name in OPERATIONS}, schema=OPERATIONS, strict=False
    )
    term = SimpleNamespace(total=SimpleNamespace(of=lambda unit: {"cycles": budget, "": 0.0}[unit]))
    budgets = {} if budget is None else {"dwt_cycles": term, "probes": term}
    manifest: Any = SimpleNamespace(error_budget=budgets, intervals=SimpleNamespace(refused=None))
    return Run(Stored(Path("run"), manifest), table, pl.DataFrame(schema=INTERRUPTS))


def only(a: Run, b: Run, exact: bool, same: bool) -> Worst:
    (worst,) = worst_cases(a, b, exact, join(a, b) if same else None)
    return worst


TEN = [10] * 10


@pytest.mark.parametrize(
    ("ours", "theirs", "hits", "exact", "same", "finding", "p"),
    [
        (TEN, TEN, (), True, True, "equal", None),
        # Of the virtual board each difference counts, and of other operations nothing is chance.
        (TEN, [*TEN[1:], 11], (), True, False, "worse", None),
        ([*TEN[1:], 11], TEN, (), True, False, "better", None),
        # Of the same operations: one above ten others, met by as many interrupts, or by more.
        (TEN, [*TEN[1:], 11], (), True, True, "worse", 0.5),
        (TEN, [*TEN[1:], 11], (9,), True, True, "chance", 0.5),
        # All else is shorter: what grew was lengthened by the interrupt.
        (TEN, [*[9] * 9, 11], (9,), True, True, "chance", 0.5),
        (TEN, [*[11] * 8, 10, 12], (9,), True, True, "worse", pytest.approx(10 / 167_960)),
        # Where no operation was met alike nothing is known of the code.
        ([*TEN[1:], 11], TEN, tuple(range(10)), True, True, "chance", 0.5),
        # On a board 2 + 2 cycles mean nothing.
        (TEN, [*TEN[1:], 14], (), False, True, "within the budgets", None),
        (TEN, [*TEN[1:], 15], (), False, True, "worse", 0.5),
        (TEN, [*TEN[1:], 15], (), False, False, "chance", 0.5),
        # Four of four are above four others in one of 70 orders, five of five in one of 252.
        ([10] * 4, [15] * 4, (), False, False, "chance", pytest.approx(1 / 70)),
        ([10] * 5, [15] * 5, (), False, False, "worse", pytest.approx(1 / 252)),
        ([15] * 5, [10] * 5, (), False, False, "better", pytest.approx(1 / 252)),
        # Those within the budgets of the greatest of A are none above it.
        ([10] * 5, [14, 14, 14, 15, 15], (), False, False, "chance", pytest.approx(2 / 9)),
    ],
)  # fmt: skip
def test_a_greatest_value_is_worse_only_where_nothing_else_explains_it(
    ours: list[int],
    theirs: list[int],
    hits: tuple[int, ...],
    exact: bool,
    same: bool,
    finding: Finding,
    p: Any,
) -> None:
    worst = only(run(ours, 2.0), run(theirs, 2.0, hits), exact, same)
    assert (worst.finding, worst.chance_p, worst.budget) == (finding, p, 0.0 if exact else 4.0)
    assert (worst.quantity, worst.change) == (DWT_CYCLES, max(theirs) - max(ours))


def test_what_one_run_does_not_tell_is_not_judged() -> None:
    complete, unknown = run(TEN, 2.0), run(TEN, None)
    for a, b in ((complete, unknown), (unknown, complete)):
        worst = only(a, b, False, True)
        assert (worst.finding, worst.budget, worst.chance_p) == ("not told", None, None)
    for a, b in ((complete, run([], 2.0)), (run([], 2.0), complete)):
        worst = only(a, b, True, True)
        assert (worst.finding, worst.change, worst.percent, worst.moved) == ("not told", None, None, False)
    assert worst_cases(run([], 2.0), run([], 2.0), True, None) == ()


def test_counts_are_never_chance() -> None:
    worsts = worst_cases(run(TEN, 9.0, probes=3), run(TEN, 9.0, probes=4), False, None)
    assert [(worst.quantity.key, worst.finding, worst.percent) for worst in worsts] == [
        ("dwt_cycles", "equal", 0.0),
        ("probes", "worse", pytest.approx(100 / 3)),
    ]
    assert worst_cases(run(TEN, 9.0, probes=0), run(TEN, 9.0, probes=4), False, None)[1].percent is None


@pytest.mark.parametrize(
    ("shift", "refused", "beyond"),
    [
        (4, "", False),
        (-5, "", True),
        (4, "It is a ramp.", False),
        (-5, "It is a ramp.", True),
    ],
)
def test_samples_lie_apart_beyond_the_budgets_of_both(shift: int, refused: str, beyond: bool) -> None:
    """All samples of a run are equal, so both ends of the interval are the shift."""
    a, b = run([10] * 30, 2.0), run([10 + shift] * 30, 2.0)
    b.manifest.intervals.refused = refused or None
    distribution, *_ = distributions(a, b, False)
    assert distribution.effect is not None and distribution.effect.shift == shift
    assert (distribution.budget, distribution.no_interval, distribution.beyond) == (4.0, refused, beyond)
    exact, *_ = distributions(a, b, True)
    assert (exact.effect, exact.budget, exact.no_interval, exact.beyond) == (None, 0.0, "", False)
    b.manifest.error_budget.clear()
    assert not distributions(a, b, False)[0].beyond
