"""What a greatest value means: whether the code is worse, or the budgets or chance explain it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
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
from tests.tables import table


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


@table
def test_a_greatest_value_is_worse_only_where_nothing_else_explains_it(
    ours: list[int],
    theirs: list[int],
    hits: tuple[int, ...],
    exact: bool,
    same: bool,
    finding: Finding,
    p: str | None,
) -> None:
    worst = only(run(ours, 2.0), run(theirs, 2.0, hits), exact, same)
    assert (worst.finding, worst.budget) == (finding, 0.0 if exact else 4.0)
    assert worst.chance_p == (p and pytest.approx(float(Fraction(p))))
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


@table
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
