from itertools import product

import numpy as np
import pytest

from base.metrology.intervals import percentile_interval, percentile_intervals
from tests.tables import table


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
