"""The bounds of a small program in words and in JSON, beside its known lengths."""

from __future__ import annotations

import json
import re

import pytest

from analysis.program.bounds.explained import LONGEST, explain
from analysis.program.bounds.measure import BoundsReport, bounds
from analysis.program.bounds.text import as_json, as_text
from analysis.program.subject import Subject
from base.paths import ROOT
from simulator.program import user_program
from tests import masked_sections
from tests.masked_sections import line_of

HZ = 16_000_000
"""The clock at reset, which the program leaves (RM0368, section 6.2.2)."""


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


def test_the_text_counts_and_names_each(report: BoundsReport) -> None:
    text = as_text(report, everything=True)
    first = text.splitlines()[0]
    longest = max(section.cycles or 0 for section in report.all)
    assert first.startswith("program.elf: 8 of 8 have a bound (5 sections, 3 handlers); ")
    assert f"the longest is {longest:,} cycles" in first
    assert first.endswith(f"primask, raised by update_table (main.c:{line_of('    mask();')}).")
    assert all(str(section) in text for section in report.all)
    assert "basepri 0x50, raised by levels" in text and "Without a bound" not in text


def test_a_priority_is_the_sum_of_its_parts(report: BoundsReport) -> None:
    for priority in report.used_priorities:
        assert priority.section is not None and priority.section.cycles
        handlers = sum(handler.cycles or 0 for handler in priority.handlers)
        assert priority.cycles == priority.entry + priority.section.cycles + handlers
        assert priority.seen is not None and priority.seen <= priority.cycles
    cycles = [priority.cycles or 0 for priority in report.used_priorities]
    assert cycles == sorted(cycles)


def test_the_document_is_the_report(report: BoundsReport) -> None:
    document = as_json(report, explain(report, LONGEST))
    assert document == json.loads(json.dumps(document, allow_nan=False))
    assert (document["clock_hz"], document["until"], document["cycles"]) == (HZ, "5ms", 0.005 * HZ)
    assert (document["missing"], document["violations"], document["timing"]["wait_states"]) == ([], 0, 0)
    for row in (*document["sections"], *document["handlers"], *document["priorities"]):
        assert row["bound_ns"] == pytest.approx(row["bound_cycles"] * 1e9 / HZ)
    (row,) = [row for row in document["sections"] if row["function"] == "short_section"]
    assert (row["kind"], row["level"], row["caller"], row["count"]) == ("primask", 0, None, 3)
    assert [end["function"] for end in row["ends"]] == ["short_section"]
    assert row["begin"]["address"] < row["ends"][0]["address"]
    assert sum(block["cycles"] for block in document["explained"]["blocks"]) == max(
        row["bound_cycles"] for row in document["sections"]
    )
    again = bounds(Subject.of(report.subject.user, "5ms"), lambda _: None)
    assert as_json(again, explain(again, LONGEST)) == document


def test_the_reference_names_each_field(report: BoundsReport) -> None:
    page = (ROOT / "docs" / "reference" / "bounds.md").read_text(encoding="utf-8")
    section = page.partition("## JSON")[2].partition("## The file")[0]
    document = as_json(report, explain(report, LONGEST))
    rows = [*document["sections"], *document["priorities"], document["timing"], document["explained"]]
    names = {name for field in (document, *rows) for name in field}
    assert {name for name in names if not re.search(rf"\b{name}\b", section)} == set()
