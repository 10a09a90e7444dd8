"""The page of a comparison: what it says, and what it draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.compare.compared import Comparison, compare
from analysis.compare.tests.made import with_cycles, write
from dashboards import compare as dashboards_compare
from dashboards.tests.browser import assert_draws


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    """Operation 1 is 40 cycles longer."""
    return compare(write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 40})))


def test_the_page_says_the_headline_and_has_every_table(comparison: Comparison) -> None:
    text = dashboards_compare.sheet(comparison).html()
    assert "longest masked section of any operation: 7.14 → 7.62 µs (+0.48 µs, +6.7 %), operation 1" in text
    for title in ("Worst cases", "Operation by operation", "All samples"):
        assert f"<h3>{title}</h3>" in text
    assert "Settings that differ" not in text
    assert text == dashboards_compare.sheet(comparison).html()


def test_each_operation_is_a_point(comparison: Comparison) -> None:
    (chart,) = dashboards_compare.charts(comparison.compared[0])
    alike, otherwise = chart.figure.data
    assert list(zip(alike.x, alike.y, strict=True)) == [(0, 0), (1, 40), (2, 0), (3, 0), (4, 0)]
    assert not len(otherwise.x)


def test_of_several_pairs_the_worse_ones_are_shown(tmp_path: Path) -> None:
    for side, longer in (("a", 0), ("b", 40)):
        write(tmp_path / side, with_cycles({1: longer}), allocator="seglist")
        write(tmp_path / side, allocator="tlsf")
    text = dashboards_compare.sheet(compare(tmp_path / "a", tmp_path / "b")).html()
    assert "Pairs of runs: 1 worse, 1 equal." in text
    assert "<h3>made, seglist</h3>" in text
    assert "<h3>made, tlsf</h3>" not in text


def test_the_page_draws_its_figure_and_asks_for_nothing(comparison: Comparison, tmp_path: Path) -> None:
    assert_draws(dashboards_compare.sheet(comparison).write(tmp_path / "compare.html"), 1)
