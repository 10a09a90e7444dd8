"""The reach of each statistic, held against every way to decide."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.metrology.membership import MOST_FOR_A_DEVIATION, reach
from base.metrology.quantiles import summarise
from base.metrology.ranks import PERCENTILES
from base.metrology.summaries import Summary

VALUES = st.integers(0, 1000).map(float)
EXACT = ("n", "min", "mean", "stdev", "max")


def every_way(sure: list[float], undecided: list[float]) -> list[Summary]:
    """The summary of each way to decide."""
    chosen = chain.from_iterable(combinations(undecided, k) for k in range(len(undecided) + 1))
    return [summarise([*sure, *some]) for some in chosen]


@given(st.lists(VALUES, min_size=2, max_size=12), st.lists(VALUES, min_size=1, max_size=6))
def test_the_ends_are_those_of_all_ways(sure: list[float], undecided: list[float]) -> None:
    reached = reach(sure, undecided)
    ways = every_way(sure, undecided)
    assert reached is not None
    for name in EXACT:
        values = [getattr(way, name) for way in ways]
        assert getattr(reached, name) == pytest.approx((min(values), max(values)), abs=1e-6)


@given(st.lists(VALUES, min_size=1, max_size=14), st.lists(VALUES, min_size=1, max_size=6))
def test_no_percentile_of_any_way_lies_outside(sure: list[float], undecided: list[float]) -> None:
    reached = reach(sure, undecided)
    for way in every_way(sure, undecided):
        for name in PERCENTILES:
            ends, value = getattr(reached, name), getattr(way, name)
            assert ends is None or ends[0] <= value <= ends[1]


def test_too_many_ways_leave_the_deviation_open() -> None:
    reached = reach([1.0, 2.0], range(MOST_FOR_A_DEVIATION + 1))
    assert reached is not None
    assert reached.stdev is None
    assert reached.max == (2.0, float(MOST_FOR_A_DEVIATION))


def test_the_highest_sure_sample_bounds_a_percentile_at_its_rank() -> None:
    """Of one sample or of two the first is the median; of three the second."""
    alone, beside_two = reach([1.0], [5.0]), reach([1.0], [5.0, 7.0])
    assert alone is not None and alone.median == (1, 1)
    assert beside_two is not None and beside_two.median == (1, 7)
