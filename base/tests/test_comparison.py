import math
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import strategies as st

from base.arrays import Floats
from base.metrology.comparison import exceedance_p, hodges_lehmann
from tests.tables import table

# Hollander and Wolfe, Nonparametric Statistical Methods, 1973, p. 69: permeability of the
# chorioamnion at term and in mid-pregnancy. The estimate of the shift is 0.305.
AT_TERM = np.array([0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46])
EARLIER = np.array([1.15, 0.88, 0.90, 0.74, 1.21])

samples = st.lists(st.integers(0, 40), min_size=2, max_size=30)


def test_a_published_shift() -> None:
    shift, (low, high) = hodges_lehmann(AT_TERM, EARLIER)
    assert shift == pytest.approx(0.305)
    assert low < 0 < shift < high


def by_all_pairs(x: Floats, y: Floats) -> tuple[float, tuple[float, float]]:
    """The Hodges-Lehmann shift and its interval, from a list of all differences."""
    m, n = len(x), len(y)
    ordered = np.sort((x[:, None] - y[None, :]).ravel())
    lowest = math.floor(m * n / 2 - NormalDist().inv_cdf(0.975) * math.sqrt(m * n * (m + n + 1) / 12))
    ends = ordered[max(lowest, 1) - 1], ordered[min(m * n + 1 - lowest, m * n) - 1]
    return float(np.median(ordered)), (float(ends[0]), float(ends[1]))


@table
@pytest.mark.parametrize("repeating", [True, False])
def test_counted_pairs_are_those_of_a_list(m: int, n: int, repeating: bool) -> None:
    """Whole cycles in ns, as they come from tables, and values that do not repeat."""
    random = np.random.default_rng(5)
    drawn = (random.integers(0, 90, m + n) * 1e9 / 84e6).astype(np.float64)
    if not repeating:
        drawn = random.normal(0, 1e6, m + n)
    x, y = drawn[:m] + 50.0, drawn[m:]
    shift, ends = hodges_lehmann(x, y)
    expected, expected_ends = by_all_pairs(x, y)
    assert shift == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert list(ends) == pytest.approx(list(expected_ends), rel=1e-12, abs=1e-9)


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Of two normal samples a standard deviation apart."""
    random = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        _, (low, high) = hodges_lehmann(random.normal(1, 1, 60), random.normal(0, 1, 50))
        held += low <= 1 <= high
    assert 181 <= held <= 199


@table
def test_chance_of_exceeding_by_counting_all_orders(m: int, n: int) -> None:
    """Each choice of the ranks that are the second sample's is as likely as any other."""
    orders = list(combinations(range(m + n), n))
    for above in range(n + 1):
        second = np.array([100.0 + i for i in range(above)] + [0.0] * (n - above))
        as_many = sum(set(range(m + n - above, m + n)) <= set(order) for order in orders)
        assert exceedance_p(np.full(m, 50.0), second) == pytest.approx(as_many / len(orders))
