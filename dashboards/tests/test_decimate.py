"""Drawn in part, a trace keeps what a reader must see: every bucket's greatest and least."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from dashboards.figures.figure import CLOUD_COLUMNS, COLUMNS, Figure, scatter, thin

POINTS = 60_000


def buckets(x: np.ndarray, count: int) -> list[list[int]]:
    """The rows of each bucket, worked out one by one."""
    low, high = min(x), max(x)
    bucket_list: list[list[int]] = [[] for _ in range(count)]
    for row, value in enumerate(x):
        bucket_list[min(int((value - low) / (high - low) * count), count - 1)].append(row)
    return [rows for rows in bucket_list if rows]


@pytest.mark.parametrize(("mode", "count"), [("lines", COLUMNS), ("markers", CLOUD_COLUMNS)])
def test_every_bucket_keeps_its_greatest_and_its_least(mode: str, count: int) -> None:
    random = np.random.default_rng(3)
    x, y = np.sort(random.uniform(0, 1e6, POINTS)), random.pareto(1.5, POINTS)
    names = [str(n) for n in range(POINTS)]
    figure = Figure(scatter(x=x, y=y, mode=mode, text=names, customdata=pl.Series(names)))
    count_drawn, _ = thin(figure)
    (trace,) = figure.data
    drawn = set(map(int, trace["customdata"]))
    assert trace["text"] == trace["customdata"].to_list()
    for rows in buckets(x, count):
        assert max(rows, key=lambda row: y[row]) in drawn
        assert min(rows, key=lambda row: y[row]) in drawn
    assert len(trace["x"]) == len(trace["y"]) == len(drawn) == count_drawn < POINTS / 2
    # Each point is one of the trace, in its order.
    assert list(trace["customdata"]) == [str(row) for row in sorted(drawn)]
    assert np.array_equal(trace["y"], y[sorted(drawn)])


def test_a_lonely_maximum_among_a_million_is_drawn() -> None:
    y = np.ones(1_000_000)
    y[654_321] = 1.0000001
    for mode in ("lines", "markers"):
        figure = Figure(scatter(x=np.arange(1_000_000), y=y, mode=mode))
        thin(figure)
        (trace,) = figure.data
        assert trace["y"].max() == y[654_321]
        assert trace["x"][trace["y"].argmax()] == 654_321
        assert len(trace["x"]) < 10_000


def test_a_gap_stays_a_gap_and_a_logarithm_its_own() -> None:
    y = np.linspace(1, 9, 20_000)
    y[10_000:10_100] = np.nan
    figure = Figure(scatter(x=np.logspace(0, 6, 20_000), y=y, mode="lines"))
    figure.update_xaxes(type="log")
    drawn, _ = thin(figure)
    assert np.isnan(figure.data[0]["y"]).any()
    # Points even on a logarithmic axis fill its buckets evenly, each with its first and last.
    assert drawn > 1.9 * COLUMNS
