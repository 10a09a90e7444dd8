import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.statistics import summarise


def test_no_values_give_no_statistics() -> None:
    assert summarise([]) == {"n": 0, "median": None, "p99": None, "max": None}


def test_the_median_of_an_even_count_is_the_lower_of_the_two() -> None:
    assert summarise([4, 1, 3, 2])["median"] == 2


@pytest.mark.parametrize(("n", "p99"), [(99, None), (100, 99), (101, 100), (200, 198), (1000, 990)])
def test_p99_needs_a_hundred_samples(n: int, p99: int | None) -> None:
    assert summarise(range(1, n + 1))["p99"] == p99


@given(st.lists(st.integers(-1000, 1000), min_size=100, max_size=300))
def test_nearest_rank_by_its_definition(values: list[int]) -> None:
    def smallest_with_share(share: float) -> int:
        return min(v for v in values if sum(other <= v for other in values) >= math.ceil(share * len(values)))

    found = summarise(values)
    assert found["median"] == smallest_with_share(0.5)
    assert found["p99"] == smallest_with_share(0.99)
    assert found["max"] == max(values)
