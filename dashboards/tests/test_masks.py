"""The page of what holds interrupts off: what it says, and how it looks in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from analysis.program.masks.measure import MaskReport, measure
from analysis.program.subject import Subject
from dashboards import masks
from dashboards.printed import browser as chromium
from dashboards.tests.browser import assert_draws
from simulator.program import user_program
from tests import masked_sections

in_a_browser = pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium")

FIGURES = 3


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
    empty = replace(report, all_intervals=report.all_intervals.clear(), worst=(), priorities=())
    assert masks.charts(empty) == []
    assert "no interval that held interrupts off has ended" in masks.html(empty)


def lengths(n: int) -> pl.DataFrame:
    """Intervals of 1, 2, … ns; the longest begins in the middle."""
    order = [*range(0, n - 1, 2), n - 1, *range(1, n - 1, 2)]
    ns = [float(number + 1) for number in order]
    return pl.DataFrame({"begin_cycle": range(n), "ns": ns, "cycles": [int(number) for number in ns]})


def test_no_figure_loses_its_maximum_or_grows_without_bound() -> None:
    rows = lengths(10_000)
    table = masks.longest_of_each_bin(rows, 10_000)
    assert table.height <= masks.MOST_POINTS and table["ns"].max() == 10_000
    ns, share, cycles = masks.survival(rows)
    assert len(ns) <= 2 * masks.MOST_POINTS
    assert (ns[-1], cycles[-1], share[-1]) == (10_000, 10_000, pytest.approx(1 / 10_000))


def test_a_share_is_that_of_intervals_at_least_so_long() -> None:
    rows = pl.DataFrame({"ns": [1.0, 1.0, 2.0, 5.0], "cycles": [1, 1, 2, 5]})
    ns, share, _ = masks.survival(rows)
    assert ns.tolist() == [1, 2, 5] and share.tolist() == [1, 0.5, 0.25]


@in_a_browser
def test_the_page_draws_its_figures_and_asks_for_nothing(report: MaskReport, tmp_path: Path) -> None:
    output = masks.write(report, tmp_path / "masks.html")
    assert_draws(output, FIGURES)
