"""The pages of a program, of masks and of bounds: what they say, and how they look in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.program.bounds.measure import LONGEST, BoundsReport, Explained, bounds, explain
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.subject import Subject
from dashboards import programs as pages
from dashboards.tests.browser import assert_draws
from simulator.program import user_program
from tests import masked_sections


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> MaskReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return measure(Subject.of(user_program(elf), "5ms"), False, lambda _: None)


def test_the_page_names_the_longest_by_file_and_line(masks: MaskReport) -> None:
    text = pages.of_masks(masks).html()
    assert f"update_table (main.c:{masked_sections.line_of('    mask();')})" in text
    for title in (
        "The longest at each place, and how many there were",
        "Not taken, by priority: everything that",
    ):
        assert f"<h3>{title}" in text
    assert text == pages.of_masks(masks).html()


def test_a_program_without_intervals_has_a_page_without_figures(masks: MaskReport) -> None:
    empty = replace(masks, all_intervals=[], worst=(), priorities=())
    assert not [*pages.mask_charts(empty)]
    assert "no interval that held interrupts off has ended" in pages.of_masks(empty).html()


def test_a_share_is_that_of_intervals_at_least_so_long(masks: MaskReport) -> None:
    lengths = (1.0, 1.0, 2.0, 5.0)
    intervals = [replace(masks.all_intervals[0], kind="primask", ns=1e3 * us, end_cycle=1) for us in lengths]
    curve = next(pages.mask_charts(replace(masks, all_intervals=intervals))).figure.data[0]
    assert list(zip(curve.x, curve.y, strict=True)) == [(1.0, 1.0), (2.0, 0.5), (5.0, 0.25)]


def test_the_page_of_masks_draws_its_figures_and_asks_for_nothing(masks: MaskReport, tmp_path: Path) -> None:
    assert_draws(pages.of_masks(masks).write(tmp_path / "masks.html"), 2)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> BoundsReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return bounds(Subject.of(user_program(elf), "5ms"), lambda _: None)


@pytest.fixture(scope="module")
def explanation(report: BoundsReport) -> Explained:
    return explain(report, LONGEST)


def test_the_page_has_each_section_and_the_lines_of_the_longest_path(
    report: BoundsReport, explanation: Explained
) -> None:
    text = pages.of_bounds(report, explanation).html()
    assert text == pages.of_bounds(report, explanation).html()
    for section in report.all:
        assert str(section.begin) in text and f">{section.cycles:,}</th>" in text
    assert f"main.c:{masked_sections.line_of('NOPS(1000)')}" in text
    assert "NOPS(1000);" in text


def test_the_parts_of_a_priority_are_its_bar(report: BoundsReport) -> None:
    (chart,) = [chart for chart in pages.bound_charts(report) if chart.key == "priorities"]
    for row, priority in enumerate(report.used_priorities):
        assert sum(part.x[row] for part in chart.figure.data) == priority.cycles


def test_without_a_bound_there_is_a_page_that_says_why(report: BoundsReport) -> None:
    none = tuple(replace(section, cycles=None, why_not=("Nobody knows <b>.",)) for section in report.sections)
    empty = replace(report, sections=none, handlers=(), priorities=())
    assert not [*pages.bound_charts(empty)]
    text = pages.of_bounds(empty, None).html()
    assert "What is missing" in text and "Nobody knows &lt;b&gt;." in text


def test_the_page_of_bounds_draws_its_figures_and_asks_for_nothing(
    report: BoundsReport, explanation: Explained, tmp_path: Path
) -> None:
    assert_draws(pages.of_bounds(report, explanation).write(tmp_path / "bounds.html"), 2)
