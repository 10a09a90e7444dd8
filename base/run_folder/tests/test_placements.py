"""placements.json: ranges, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from base.run_folder.placements import Measured, Placements, Range
from tests.tables import table


def measured(number: int, critical: float, verdict: str = "complete") -> Measured:
    return Measured.model_validate(
        {
            "number": number,
            "rest_bytes": 0,
            "heap_bytes": 4 * number,
            "elf_sha256": "0" * 64,
            "verdict": verdict,
            "reasons": [],
            "greatest": {"critical_ns": critical, "probes": 2},
        }
    )


@pytest.mark.parametrize("n", [1, 2, 15, 16])
def test_a_range_is_that_of_another_library(n: int) -> None:
    values = [float(value) for value in np.random.default_rng(n).integers(4_000, 9_000, n)]
    placements = Placements.of([measured(number, value) for number, value in enumerate(values)])
    headlines = placements.headlines["critical_ns"]
    assert (headlines.n, headlines.least, headlines.greatest) == (n, np.min(values), np.max(values))
    assert headlines.median == pytest.approx(np.quantile(values, 0.5))
    assert placements.headlines["probes"].spread_percent == 0


def test_figures_of_a_run_that_is_not_complete_are_in_no_range() -> None:
    placements = Placements.of([measured(0, 5.0), measured(1, 9.0, "inconclusive"), measured(2, 6.0)])
    assert placements.headlines["critical_ns"] == Range(n=2, least=5, median=5.5, greatest=6)


@table
def test_ranges_meet_where_they_have_a_value_in_common(other: tuple[int, int], meets: bool) -> None:
    first = Range(n=2, least=5, median=7, greatest=9)
    second = Range(n=2, least=other[0], median=other[0], greatest=other[1])
    assert first.meets(second) is second.meets(first) is meets
