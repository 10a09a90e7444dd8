"""Values that are counted tell what all of them, kept and sorted, tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.metrology.quantiles import summarise
from base.metrology.tally import Tally

NS = 1e9 / 84_000_000


@given(
    st.lists(st.lists(st.integers(0, 40) | st.integers(0, 1 << 42), max_size=30), max_size=8),
    st.sampled_from([1.0, NS, 1e9 / 24_000_000]),
)
def test_the_summary_is_that_of_all_values_to_the_last_bit(parts: list[list[int]], unit: float) -> None:
    tally = Tally()
    for part in parts:
        tally.add(np.array(part, np.int64))
    every = np.array([value for part in parts for value in part], np.int64)
    counted = tally.counted()
    assert counted.summary(unit) == summarise(every * unit)
    assert (counted.n, counted.bin) == (every.size, 1)


@pytest.mark.parametrize("values", [range(1000), range(0, 10_000, 10), [*range(0, 20, 2), *range(21, 999)]])
def test_too_many_values_are_counted_in_bins(values: range | list[int]) -> None:
    """Each percentile is at most a bin below the true one, and least and greatest are exact."""
    tally, most = Tally(most_values=64), 64
    for value in values:
        tally.add(np.array([value]))
    counted = tally.counted()
    assert counted.bin > 1 and counted.values.size <= most
    assert not (counted.values % counted.bin).any()
    assert counted.n == len(values)
    true, summary = summarise(np.array(values)), counted.summary(1)
    assert (summary.min, summary.max) == (true.min, true.max)
    for name in ("median", "p90", "p99"):
        counted_at, exact = getattr(summary, name), getattr(true, name)
        assert exact - counted.bin < counted_at <= exact
