"""The text of a program's bounds: the headline, the table by priority, and where each is from."""

from __future__ import annotations

import pytest

from analysis.program.bounds.measure import BoundsReport, bounds
from analysis.program.bounds.text import as_text, where
from simulator.program import user_program
from tests import masked_sections
from tests.masked_sections import line_of


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> BoundsReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return bounds(user_program(elf), "5ms", lambda _: None)


# main.c says how many NOPs a section has; CPSIE, or the last MSR, takes a cycle at least.
@pytest.mark.parametrize(
    ("function", "cycles"),
    [("short_section", 100 + 1), ("update_table", 1000 + 1), ("fault_masked", 300 + 1), ("levels", 60 + 3)],
)
def test_a_bound_is_no_less_than_the_section(report: BoundsReport, function: str, cycles: int) -> None:
    (one,) = [section for section in report.sections if section.function == function]
    assert one.count > 0 and one.seen is not None and one.cycles is not None
    assert cycles <= one.seen <= one.cycles < 2 * cycles


def test_the_headline_counts_and_names_the_longest(report: BoundsReport) -> None:
    first = as_text(report).splitlines()[0]
    longest = max(section.cycles or 0 for section in report.all)
    assert first.startswith("program.elf: 8 of 8 have a bound (5 sections, 3 handlers); ")
    assert f"the longest is {longest:,} cycles" in first
    assert first.endswith(f"primask, raised by update_table (main.c:{line_of('    mask();')}).")


def test_a_priority_is_the_sum_of_its_parts(report: BoundsReport) -> None:
    result = [priority.cycles for priority in report.used_priorities]
    for priority in report.used_priorities:
        assert priority.section is not None
        assert priority.cycles == priority.entry + (priority.section.cycles or 0) + sum(
            it.cycles or 0 for it in priority.handlers
        )
        assert priority.seen is not None and priority.seen <= priority.cycles
    assert result == sorted(result, key=lambda cycles: cycles or 0)


def test_each_row_says_where_it_is_from(report: BoundsReport) -> None:
    text = as_text(report, everything=True)
    for section in report.all:
        assert where(section) in text
    assert "basepri 0x50, raised by levels" in text
    assert "Without a bound" not in text
