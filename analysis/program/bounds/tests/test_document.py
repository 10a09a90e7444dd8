"""The document of a program's bounds: it is JSON, and says what the report does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.program.bounds.document import as_json
from analysis.program.bounds.measure import BoundsReport, bounds
from simulator.program import user_program
from tests import masked_sections

HZ = 16_000_000
"""The clock at reset, which the program leaves (RM0368, section 6.2.2)."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> BoundsReport:
    elf = masked_sections.build(tmp_path_factory.mktemp("program"))
    return bounds(user_program(elf), "5ms", lambda _: None)


@pytest.fixture(scope="module")
def document(report: BoundsReport) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(json.dumps(as_json(report), allow_nan=False))
    return result


def test_json_loses_nothing(report: BoundsReport, document: dict[str, Any]) -> None:
    assert document == as_json(report)


def test_it_says_of_what_run_it_is(document: dict[str, Any]) -> None:
    assert (document["clock_hz"], document["wait_states"], document["until"]) == (HZ, 0, "5ms")
    assert document["cycles"] == 0.005 * HZ
    assert (document["missing"], document["violations"], document["kernel"]) == ([], 0, None)


def test_each_row_has_its_bound_in_cycles_and_in_time(document: dict[str, Any]) -> None:
    rows = [*document["sections"], *document["handlers"], *document["priorities"]]
    assert len(document["sections"]) == 5
    for row in rows:
        assert row["bound_ns"] == pytest.approx(row["bound_cycles"] * 1e9 / HZ)
    cycles = [row["bound_cycles"] for row in document["sections"]]
    assert cycles == sorted(cycles, reverse=True)


def test_a_section_has_its_places(document: dict[str, Any]) -> None:
    (one,) = [row for row in document["sections"] if row["function"] == "short_section"]
    assert (one["kind"], one["level"], one["caller"], one["count"]) == ("primask", 0, None, 3)
    assert one["begin"]["function"] == "short_section"
    assert [end["function"] for end in one["ends"]] == ["short_section"]
    assert one["begin"]["address"] < one["ends"][0]["address"]


def test_two_runs_give_the_same_document(report: BoundsReport, document: dict[str, Any]) -> None:
    again = bounds(user_program(report.program.elf), "5ms", lambda _: None)
    assert json.dumps(as_json(again)) == json.dumps(document)
