from __future__ import annotations

import io
import math
import re
import statistics
from itertools import chain, combinations, product

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from base.metrology.quantiles import (
    percentile_distribution,
    percentile_interval,
    percentile_intervals,
    reach,
    summarise,
)
from base.metrology.summaries import PERCENTILES, Summary
from base.metrology.tally import Tally
from tests.tables import table


def test_a_baseline_is_taken_off_every_statistic_and_not_off_the_count() -> None:
    summary = Summary(n=5, min=3.0, mean=6.5, stdev=1.5, median=7.0, max=9.0).less(2.0)
    assert summary == Summary(n=5, min=1.0, mean=4.5, stdev=1.5, median=5.0, max=7.0)


@given(st.lists(st.integers(0, 2**32 - 1) | st.floats(0, 1e9), min_size=2, max_size=60))
def test_moments_are_those_of_the_statistics_module(values: list[float]) -> None:
    summary = summarise(values)
    assert summary.min == min(values)
    assert summary.mean == pytest.approx(statistics.fmean(values), rel=1e-12)
    assert summary.stdev == pytest.approx(statistics.stdev(map(float, values)), rel=1e-9, abs=1e-6)


def test_a_small_deviation_far_from_zero_is_not_lost() -> None:
    """A sum of squares less a square of sums would have none of these digits left."""
    summary = summarise([4_000_000_000 + step for step in (0, 1, 2, 3, 4)])
    assert (summary.mean, summary.stdev) == (4_000_000_002, math.sqrt(2.5))


@table
def test_finer_percentiles_need_more(
    n: int, median: int, p90: int | None, p99_9: int | None, p99_99: int | None
) -> None:
    summary = summarise(range(1, n + 1))
    assert (summary.median, summary.p90, summary.p99_9, summary.p99_99) == (median, p90, p99_9, p99_99)


@given(st.lists(st.integers(-1000, 1000), min_size=100, max_size=300))
def test_nearest_rank_by_its_definition(values: list[int]) -> None:
    def smallest_with_share(share: float) -> int:
        return min(v for v in values if sum(other <= v for other in values) >= math.ceil(share * len(values)))

    summary = summarise(values)
    assert summary.median == smallest_with_share(0.5)
    assert summary.p90 == smallest_with_share(0.9)
    assert summary.p99 == smallest_with_share(0.99)
    assert summary.max == max(values)


ROW = re.compile(r"\s*(\d+\.\d{3}) (\d\.\d{12})\s+(\d+)(?:\s+(\d+\.\d\d))?")


def rows(text: str) -> list[tuple[float, float, int]]:
    lines = [ROW.fullmatch(line) for line in text.splitlines()]
    return [(float(m[1]), float(m[2]), int(m[3])) for m in lines if m]


def test_hdrhistogram_itself_has_the_same_percentiles() -> None:
    values = np.random.default_rng(4).gamma(2.0, 4000.0, 20_000).astype(int) + 1
    reference = HdrHistogram(1, 10_000_000, 3)
    for value in values.tolist():
        reference.record_value(value)
    lines = rows(percentile_distribution(values))
    shares = np.array([share for _, share, _ in lines])
    for percentile in (10, 50, 90, 99, 99.9, 99.99):
        ours = lines[int(np.searchsorted(shares, percentile / 100 - 1e-12))][0]
        assert ours == pytest.approx(reference.get_value_at_percentile(percentile), rel=1e-3)
    assert lines[-1] == (float(values.max()), 1.0, 20_000)


def test_its_lines_are_shaped_as_those_of_hdrhistogram() -> None:
    reference = HdrHistogram(1, 100_000, 3)
    for value in (10, 20, 20, 30):
        reference.record_value(value)
    theirs = io.BytesIO()
    reference.output_percentile_distribution(theirs, 1.0)
    ours = percentile_distribution([10, 20, 20, 30]).splitlines()
    lines = theirs.getvalue().decode().splitlines()
    assert ours[0].split() == lines[0].split()
    for mine, line in zip(ours[-3:], lines[-3:], strict=True):
        assert re.sub(r"\d+", "9", mine).split("=")[0] == re.sub(r"\d+", "9", line).split("=")[0]
    assert ours[2] == "      10.000 0.250000000000          1           1.33"
    assert ours[4] == "      30.000 1.000000000000          4"


def by_enumeration(values: list[int], rank: int, confidence: float) -> tuple[int, int]:
    """The quantiles of the r-th smallest of all n^n samples with replacement, each as likely."""
    drawn = sorted(sorted(sample)[rank - 1] for sample in product(values, repeat=len(values)))
    tail = (1 - confidence) / 2
    cumulative = np.arange(1, len(drawn) + 1) / len(drawn)
    low, high = np.searchsorted(cumulative, [tail, 1 - tail])
    return drawn[low], drawn[high]


@table
@pytest.mark.parametrize(("per_myriad", "share"), [(5_000, 0.5), (9_000, 0.9)])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
def test_it_is_what_all_resamples_together_give(
    values: list[int], per_myriad: int, share: float, confidence: float
) -> None:
    rank = int(np.ceil(share * len(values)))
    interval = percentile_interval(np.sort(values), per_myriad, confidence)
    assert interval == by_enumeration(values, rank, confidence)


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """An exponential distribution's 90th percentile is ln 10; 95 % of 400 are 380 ± 4.4."""
    random = np.random.default_rng(11)
    held = 0
    for _ in range(400):
        low, high = percentile_interval(np.sort(random.exponential(1.0, 500)), 9_000)
        held += low <= np.log(10) <= high
    assert 360 <= held <= 396


def test_too_few_values_have_none() -> None:
    intervals = percentile_intervals(range(150))
    assert intervals["p99"] is not None and intervals["p99_9"] is None and intervals["p99_99"] is None
    assert percentile_intervals([])["median"] is None


VALUES = st.integers(0, 1000).map(float)
EXACT = ("n", "min", "mean", "max")


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


def test_the_highest_sure_sample_bounds_a_percentile_at_its_rank() -> None:
    """Of one sample or of two the first is the median; of three the second."""
    alone, beside_two = reach([1.0], [5.0]), reach([1.0], [5.0, 7.0])
    assert alone is not None and alone.median == (1, 1)
    assert beside_two is not None and beside_two.median == (1, 7)


NS = 1e9 / 84_000_000


@given(
    st.lists(st.lists(st.integers(0, 40) | st.integers(0, 1 << 42), max_size=30), max_size=8),
    st.sampled_from([1.0, NS, 1e9 / 24_000_000]),
)
def test_the_summary_is_that_of_all_values(parts: list[list[int]], unit: float) -> None:
    tally = Tally()
    for part in parts:
        tally.add(np.array(part, np.int64))
    every = np.array([value for part in parts for value in part], np.int64)
    counted = tally.counted
    assert counted.summary(unit).model_dump() == pytest.approx(summarise(every * unit).model_dump())
    assert (counted.n, counted.bin) == (every.size, 1)


@pytest.mark.parametrize("values", [range(1000), range(0, 10_000, 10), [*range(0, 20, 2), *range(21, 999)]])
def test_too_many_values_are_counted_in_bins(values: range | list[int]) -> None:
    """Each percentile is at most a bin below the true one, and least and greatest are exact."""
    tally, most = Tally(most_values=64), 64
    for value in values:
        tally.add(np.array([value]))
    counted = tally.counted
    assert counted.bin > 1 and counted.values.size <= most
    assert not (counted.values % counted.bin).any()
    assert counted.n == len(values)
    true, summary = summarise(np.array(values)), counted.summary(1)
    assert (summary.min, summary.max) == (true.min, true.max)
    for name in ("median", "p90", "p99"):
        counted_at, exact = getattr(summary, name), getattr(true, name)
        assert exact - counted.bin < counted_at <= exact
