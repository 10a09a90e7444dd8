import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrology.quantiles import Summary, summarise

NOTHING = Summary(n=0)


def test_no_values_give_no_statistics() -> None:
    assert summarise([]) == NOTHING


def test_a_baseline_is_taken_off_every_statistic_and_not_off_the_count() -> None:
    assert Summary(n=5, median=7.0, max=9.0).less(2.0) == Summary(n=5, median=5.0, max=7.0)


def test_the_median_of_an_even_count_is_the_lower_of_the_two() -> None:
    assert summarise([4, 1, 3, 2]).median == 2


@pytest.mark.parametrize(("n", "p99"), [(99, None), (100, 99), (101, 100), (200, 198), (1000, 990)])
def test_p99_needs_a_hundred_samples(n: int, p99: int | None) -> None:
    assert summarise(range(1, n + 1)).p99 == p99


@pytest.mark.parametrize(
    ("n", "median", "p90", "p99_9", "p99_99"),
    [(9, 5, None, None, None), (10, 5, 9, None, None), (999, 500, 900, None, None),
     (1000, 500, 900, 999, None), (9_999, 5_000, 9_000, 9_990, None),
     (10_000, 5_000, 9_000, 9_990, 9_999)],
)  # fmt: skip
def test_finer_percentiles_need_more(
    n: int, median: int, p90: int | None, p99_9: int | None, p99_99: int | None
) -> None:
    found = summarise(range(1, n + 1))
    assert (found.median, found.p90, found.p99_9, found.p99_99) == (median, p90, p99_9, p99_99)


@given(st.lists(st.integers(-1000, 1000), min_size=100, max_size=300))
def test_nearest_rank_by_its_definition(values: list[int]) -> None:
    def smallest_with_share(share: float) -> int:
        return min(v for v in values if sum(other <= v for other in values) >= math.ceil(share * len(values)))

    found = summarise(values)
    assert found.median == smallest_with_share(0.5)
    assert found.p90 == smallest_with_share(0.9)
    assert found.p99 == smallest_with_share(0.99)
    assert found.max == max(values)
