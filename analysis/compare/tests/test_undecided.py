"""Latencies by what was hit, of which the wire does not tell whether all belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import median_low
from types import SimpleNamespace
from typing import Any

import polars as pl

from analysis.compare.pairing import Run, Stored
from analysis.compare.worst import Distribution, distributions
from base.run_folder.quantities import HIT, QUANTITIES
from base.run_folder.tables import INTERRUPTS, OPERATIONS

BUDGET = 2.0
"""Of a run, so two may differ by twice as much."""


def run(hit: Sequence[float], unsure_hit: Sequence[float] = (), unsure_clear: Sequence[float] = ()) -> Run:
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
    return Run(Stored(Path("run"), manifest), pl.DataFrame(schema=OPERATIONS), table)


def of_hits(a: Run, b: Run, exact: bool = False) -> Distribution:
    (distribution,) = (
        distribution for distribution in distributions(a, b, exact) if distribution.quantity is HIT
    )
    return distribution


def test_a_difference_that_undecided_interrupts_may_make_is_none() -> None:
    """Of B 40 of 50 may not belong: without them its median is A's."""
    a = run([100.0] * 30)
    sure, unsure = run([110.0] * 50), run([100.0] * 10, [110.0] * 40)
    assert (of_hits(a, sure).beyond, of_hits(a, sure).hidden, of_hits(a, sure).undecided) == (True, False, 0)
    assert (of_hits(a, unsure).beyond, of_hits(a, unsure).hidden) == (False, True)
    assert of_hits(a, unsure).undecided == 40
    assert (of_hits(unsure, a).beyond, of_hits(unsure, a).hidden) == (False, True)


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
        distribution = of_hits(run(ours, perhaps), run(theirs, also[:2], also[2:]))
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
    a = run([100.0] * 30)
    for median, undecided in ((104.0, 3), (104.5, 0), (96.0, 3), (95.5, 0)):
        b = run([median] * 40, [median] * 3)
        assert of_hits(a, b).undecided == of_hits(b, a).undecided == undecided
