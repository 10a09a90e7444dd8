"""The summary of a few values, by Python's own statistics."""

from __future__ import annotations

import statistics
from typing import Any

import pytest


def summary(*values: float) -> dict[str, Any]:
    """As run.json has it. A percentile above the median takes ten values; here are fewer,
    and none is a wait that was not over.
    """
    assert len(values) < 10
    few: dict[str, Any] = {**dict.fromkeys(("p90", "p99", "p99_9", "p99_99")), "open": 0}
    if not values:
        return {**dict.fromkeys(("min", "mean", "stdev", "median", "max")), **few, "n": 0}
    return {
        "n": len(values),
        "min": min(values),
        "mean": pytest.approx(statistics.fmean(values)),
        "stdev": pytest.approx(statistics.stdev(values)) if len(values) > 1 else None,
        "median": statistics.median_low(values),
        **few,
        "max": max(values),
    }
