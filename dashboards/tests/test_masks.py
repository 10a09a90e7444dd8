"""The page of what holds interrupts off: what it says, and how it looks in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.program.masks.log import Interval
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.subject import Subject
from dashboards import masks
from dashboards.tests.browser import assert_draws
from simulator.program import user_program
from tests import masked_sections


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> MaskReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return measure(Subject.of(user_program(elf), "5ms"), False, lambda _: None)


def test_the_page_names_the_longest_by_file_and_line(report: MaskReport) -> None:
    text = masks.html(report)
    assert f"update_table (main.c:{masked_sections.line_of('    mask();')})" in text
    for title in (
        "The longest at each place, and how many there were",
        "Not taken, by priority: everything that",
    ):
        assert f"<h3>{title}" in text
    assert text == masks.html(report)


def test_a_program_without_intervals_has_a_page_without_figures(report: MaskReport) -> None:
    empty = replace(report, all_intervals=[], worst=(), priorities=())
    assert not [*masks.charts(empty)]
    assert "no interval that held interrupts off has ended" in masks.html(empty)


def test_no_figure_loses_its_maximum_or_grows_without_bound() -> None:
    """Intervals of 1, 2, … ns, of which the longest begins in the middle."""
    order = [*range(1, 10_000, 2), 10_000, *range(2, 10_000, 2)]
    rows = [Interval("primask", None, 0, at, ns=float(ns)) for at, ns in enumerate(order)]
    longest = masks.longest_of_each_bin(rows, 10_000)
    assert len(longest) <= masks.MOST_POINTS and max(it.ns or 0 for it in longest) == 10_000
    points = masks.survival([(float(ns), ns) for ns in order])
    assert len(points) <= 2 * masks.MOST_POINTS
    assert points[-1] == pytest.approx((10_000, 1 / 10_000, 10_000))


def test_a_share_is_that_of_intervals_at_least_so_long() -> None:
    points = masks.survival([(1.0, 1), (1.0, 1), (2.0, 2), (5.0, 5)])
    assert points == [(1.0, 1.0, 1), (2.0, 0.5, 2), (5.0, 0.25, 5)]


def test_the_page_draws_its_figures_and_asks_for_nothing(report: MaskReport, tmp_path: Path) -> None:
    assert_draws(masks.write(report, tmp_path / "masks.html"), 3)
