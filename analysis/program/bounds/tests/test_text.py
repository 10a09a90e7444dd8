"""The bounds of a small program in words and in JSON, beside its known lengths."""

from __future__ import annotations

import re

import pytest

from analysis.program.bounds import text
from analysis.program.bounds.measure import LONGEST, BoundsReport, bounds, explain
from analysis.program.bounds.text import as_json
from analysis.program.subject import Subject
from simulator.program import user_program
from tests import masked_sections


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> BoundsReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return bounds(Subject.of(user_program(elf), "5ms"), lambda _: None)


# main.c says how many NOPs a section has; CPSIE, or the last MSR, takes a cycle at least.
@pytest.mark.parametrize(
    ("function", "cycles"),
    [("short_section", 100 + 1), ("update_table", 1000 + 1), ("fault_masked", 300 + 1), ("levels", 60 + 3)],
)
def test_a_bound_is_no_less_than_the_section(report: BoundsReport, function: str, cycles: int) -> None:
    (section,) = [section for section in report.sections if section.function == function]
    assert section.count > 0 and section.seen is not None and section.cycles is not None
    assert cycles <= section.seen <= section.cycles < 2 * cycles


def test_a_priority_is_the_sum_of_its_parts(report: BoundsReport) -> None:
    for priority in report.used_priorities:
        assert priority.section is not None and priority.section.cycles
        handlers = sum(handler.cycles or 0 for handler in priority.handlers)
        assert priority.cycles == priority.entry + priority.section.cycles + handlers
        assert priority.seen is not None and priority.seen <= priority.cycles
    cycles = [priority.cycles or 0 for priority in report.used_priorities]
    assert cycles == sorted(cycles)


def test_the_reference_names_each_field(report: BoundsReport) -> None:
    section = text.__doc__ or ""
    document = as_json(report, explain(report, LONGEST))
    rows = [*document["sections"], *document["priorities"], document["timing"], document["explained"]]
    names = {name for field in (document, *rows) for name in field}
    assert {name for name in names if not re.search(rf"\b{name}\b", section)} == set()
