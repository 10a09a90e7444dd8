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

from analysis.compare.compared import compare
from analysis.compare.pairing import Stored
from analysis.compare.run import Run
from analysis.compare.tests.made import OPERATIONS as MADE
from analysis.compare.tests.made import with_cycles, write
from analysis.compare.worst import WORST_CASES, Distribution, distributions
from analysis.judge.exact import JUDGED
from analysis.judge.stored import IN_CYCLES, ON_THE_WIRE
from base.run_folder.quantities import CLEAR, HIT, QUANTITIES
from base.run_folder.tables import INTERRUPTS, OPERATIONS
from tests.run_folders import seal

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


def test_a_difference_that_they_cannot_make_up_is_one() -> None:
    """Whatever becomes of 5 of 45, the median is 110; and 114 is as far as the budgets go."""
    a, b = run([100.0] * 30), run([110.0] * 40, [100.0] * 3, [90.0] * 2)
    assert (of_hits(a, b).beyond, of_hits(a, b).hidden, of_hits(a, b).undecided) == (True, False, 0)
    near = run([104.0] * 40, [104.0] * 3)
    assert (of_hits(a, near).beyond, of_hits(a, near).hidden, of_hits(a, near).undecided) == (False, False, 3)


def test_those_that_are_classed_otherwise_count_too() -> None:
    """80 short ones may have met a section as well: then the median of the hits is A's."""
    a, b = run([100.0] * 30), run([110.0] * 40, unsure_clear=[100.0] * 80)
    assert (of_hits(a, b).hidden, of_hits(a, b).undecided) == (True, 80)


def medians(sure: Sequence[float], unsure: Sequence[float]) -> Iterator[float]:
    """That of each way to decide."""
    for count in range(len(unsure) + 1):
        for chosen in combinations(unsure, count):
            yield median_low([*sure, *chosen])


def test_no_way_to_decide_makes_alike_what_is_told_apart() -> None:
    """All ways of both runs, one after the other."""
    random, differing = Random(7), 0
    for _ in range(300):
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
    assert differing > 30


def test_the_notes_say_what_undecided_interrupts_may_do(tmp_path: Path) -> None:
    many = list(MADE) * 40
    a = write(tmp_path / "a", many, exact=False)
    longer = dict.fromkeys(range(len(many)), 2_000)
    b = write(tmp_path / "b", with_cycles(longer, many), exact=False)
    (sure,) = compare(a, b).compared
    (hits,) = (distribution for distribution in sure.distributions if distribution.quantity is HIT)
    assert hits.beyond
    assert not any("undecided" in note for note in sure.notes)
    path = b / "interrupts.parquet"
    table = pl.read_parquet(path)
    met = (pl.col("hit") == "critical") & ~pl.col("control")
    table.with_columns(critical_sure=~met).write_parquet(path)
    seal(path.parent)
    (comparison,) = compare(a, b).compared
    (hits,) = (distribution for distribution in comparison.distributions if distribution.quantity is HIT)
    count = table.filter(met).height
    assert (hits.beyond, hits.undecided) == (False, count)
    assert (
        f"interrupt latency, critical section hit: the difference lies within what {count:,} undecided "
        "interrupts may do, of which the wire does not tell what they hit."
    ) in comparison.notes


def test_nothing_that_decides_over_worse_has_undecided_samples() -> None:
    """Else both would have to take their ends into account as well."""
    undecided = {quantity.key for quantity in QUANTITIES if quantity.undecided is not None}
    assert undecided == {HIT.key, CLEAR.key}
    assert not undecided & {quantity.key for quantity in WORST_CASES}
    judged = {quantity.key for quantity in JUDGED.values()}
    judged |= {*ON_THE_WIRE.values(), *IN_CYCLES.values()}
    assert not undecided & judged


def test_a_difference_of_as_much_as_the_budgets_is_undecided_in_either_direction() -> None:
    a = run([100.0] * 30)
    for median, undecided in ((104.0, 3), (104.5, 0), (96.0, 3), (95.5, 0)):
        b = run([median] * 40, [median] * 3)
        assert of_hits(a, b).undecided == of_hits(b, a).undecided == undecided


def test_undecided_samples_of_both_runs_count() -> None:
    a, b = run([100.0] * 30, [100.0] * 2), run([100.0] * 30, unsure_clear=[100.0] * 5)
    assert of_hits(a, b).undecided == 7
