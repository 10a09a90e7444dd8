"""The page of how long interrupts can be held off: what it says, and how it looks in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.program.bounds.explained import LONGEST, Explained, explain
from analysis.program.bounds.measure import BoundsReport, bounds
from analysis.program.subject import Subject
from dashboards import bounds as pages
from dashboards.tests.browser import assert_draws
from simulator.program import user_program
from tests import masked_sections


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> BoundsReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return bounds(Subject.of(user_program(elf), "5ms"), lambda _: None)


@pytest.fixture(scope="module")
def explanation(report: BoundsReport) -> Explained:
    return explain(report, LONGEST)


def figure(report: BoundsReport, explanation: Explained | None, key: str) -> dict[str, Any]:
    (chart,) = [chart for chart in pages.charts(report, explanation) if chart.key == key]
    return chart.figure.to_dict()


def test_the_page_has_each_section_and_the_lines_of_the_longest_path(
    report: BoundsReport, explanation: Explained
) -> None:
    text = pages.html(report, explanation)
    assert text == pages.html(report, explanation)
    for section in report.all:
        assert str(section.begin) in text and f">{section.cycles:,}</th>" in text
    assert f"main.c:{masked_sections.line_of('NOPS(1000)')}" in text
    assert "NOPS(1000);" in text


def test_the_parts_of_a_priority_are_its_bar(report: BoundsReport) -> None:
    bars = figure(report, None, "priorities")["data"]
    for row, priority in enumerate(report.used_priorities):
        assert sum(part["x"][row] for part in bars) == priority.cycles


def test_a_call_is_within_the_one_around_it(report: BoundsReport, explanation: Explained) -> None:
    (bars,) = figure(report, explanation, "calls")["data"]
    assert bars["x"][0] == explanation.cycles
    for depth, begin, cycles in zip(bars["y"], bars["base"], bars["x"], strict=True):
        assert begin + cycles <= explanation.cycles or depth == 0


def test_without_a_bound_there_is_a_page_that_says_why(report: BoundsReport) -> None:
    none = tuple(replace(section, cycles=None, why_not=("Nobody knows <b>.",)) for section in report.sections)
    empty = replace(report, sections=none, handlers=(), priorities=())
    assert not [*pages.charts(empty, None)]
    text = pages.html(empty, None)
    assert "What is missing" in text and "Nobody knows &lt;b&gt;." in text


def test_the_page_draws_its_figures_and_asks_for_nothing(
    report: BoundsReport, explanation: Explained, tmp_path: Path
) -> None:
    assert_draws(pages.write(report, explanation, tmp_path / "bounds.html"), 3)
