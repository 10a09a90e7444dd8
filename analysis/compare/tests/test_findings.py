"""What a greatest value means: whether the code is worse, or the budgets or chance explain it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import median_low
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.compare.findings import Distribution, Finding, Worst, distributions, join, worst_cases
from analysis.compare.pairing import Run
from base.run_folder.quantities import DWT_CYCLES, HIT, QUANTITIES
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
    return Run(Path("run"), manifest, table, pl.DataFrame(schema=INTERRUPTS))


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
    assert distribution.shift == shift
    assert (distribution.budget, distribution.no_interval, distribution.beyond) == (4.0, refused, beyond)
    exact, *_ = distributions(a, b, True)
    assert (exact.shift, exact.budget, exact.no_interval, exact.beyond) == (None, 0.0, "", False)
    b.manifest.error_budget.clear()
    assert not distributions(a, b, False)[0].beyond


BUDGET = 2.0
"""Of a run, so two may differ by twice as much."""


def latencies(
    hit: Sequence[float], unsure_hit: Sequence[float] = (), unsure_clear: Sequence[float] = ()
) -> Run:
    """A run whose interrupts met a section: surely, or as far as the edges say; or did not."""
    rows = [
        *(("critical", True, hit) for hit in hit),
        *(("critical", False, hit) for hit in unsure_hit),
        *(("none", False, hit) for hit in unsure_clear),
        *(("none", True, hit) for hit in (20.0, 20.0)),
    ]
    n = len(rows)
    columns = {
        "control": [False] * n,
        "sample": range(n),
        "hit": [hit for hit, _, _ in rows],
        "critical_sure": [hit for _, hit, _ in rows],
        "isr_latency_ns": [hit for _, _, hit in rows],
    }
    table = pl.DataFrame(
        {name: columns.get(name, [None] * n) for name in INTERRUPTS}, schema=INTERRUPTS, strict=False
    )
    term = SimpleNamespace(total=SimpleNamespace(of=lambda _: BUDGET))
    manifest: Any = SimpleNamespace(
        error_budget={quantity.key: term for quantity in QUANTITIES},
        intervals=SimpleNamespace(refused=None),
    )
    return Run(Path("run"), manifest, pl.DataFrame(schema=OPERATIONS), table)


def of_hits(a: Run, b: Run, exact: bool = False) -> Distribution:
    (distribution,) = (
        distribution for distribution in distributions(a, b, exact) if distribution.quantity is HIT
    )
    return distribution


def test_a_difference_that_undecided_interrupts_may_make_is_none() -> None:
    """Of B 40 of 50 may not belong: without them its median is A's."""
    a = latencies([100.0] * 30)
    sure, unsure = latencies([110.0] * 50), latencies([100.0] * 10, [110.0] * 40)
    assert (of_hits(a, sure).beyond, of_hits(a, sure).undecided) == (True, 0)
    assert (of_hits(a, unsure).beyond, of_hits(a, unsure).undecided) == (False, 40)
    assert (of_hits(unsure, a).beyond, of_hits(unsure, a).undecided) == (False, 40)


def medians(sure: Sequence[float], unsure: Sequence[float]) -> Iterator[float]:
    """That of each way to decide."""
    for count in range(len(unsure) + 1):
        for chosen in combinations(unsure, count):
            yield median_low([*sure, *chosen])


def test_no_way_to_decide_makes_alike_what_is_told_apart() -> None:
    """All ways of both runs, one after the other."""
    random, differing = Random(7), 0
    for _ in range(100):
        sides = []
        for middle in (100, random.choice((100, 106, 112))):
            drawn = [float(random.randint(middle - 4, middle + 4)) for _ in range(12)]
            count = random.randint(0, 4)
            sides.append((drawn[count:], drawn[:count]))
        (ours, perhaps), (theirs, also) = sides
        distribution = of_hits(latencies(ours, perhaps), latencies(theirs, also[:2], also[2:]))
        alike = any(
            abs(median - other) <= 2 * BUDGET
            for median in medians(ours, perhaps)
            for other in medians(theirs, also)
        )
        if alike and perhaps + also:
            assert distribution.undecided == len(perhaps + also)
        differing += distribution.beyond
        assert not (distribution.beyond and alike and perhaps + also)
    assert differing > 10


def test_a_difference_of_as_much_as_the_budgets_is_undecided_in_either_direction() -> None:
    a = latencies([100.0] * 30)
    for median, undecided in ((104.0, 3), (104.5, 0), (96.0, 3), (95.5, 0)):
        b = latencies([median] * 40, [median] * 3)
        assert of_hits(a, b).undecided == of_hits(b, a).undecided == undecided
