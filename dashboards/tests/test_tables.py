"""The tables: interval and budget beside the numbers, and differences."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from base.run_folder.quantities import CRITICAL, OPERATION_COLUMNS
from dashboards.blocks import Cell, Grid
from dashboards.loaded.runs import bounds_sentence, load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.tables import comparison
from dashboards.tests.synthetic import Operation, write_run
from tests.sentences import Sentences

WIRE = "critical section on the wire (µs)"


def cell_of(grid: Grid, words: str, column: str, row: int = 0) -> Cell:
    """The cell of the group `words`, under the column of that key."""
    (group,) = (group for group in grid.groups if group.words == words)
    place = [column.key for column in grid.columns].index(column)
    return group.lines[row].cells[place]


def test_a_maximum_has_its_budget_and_a_percentile_its_interval(stress: list[Series]) -> None:
    table = comparison(stress)
    median = stress[0].run.summary(CRITICAL).median
    assert median is not None
    cell = cell_of(table, WIRE, "median")
    assert (cell.text, cell.value) == (f"{median / 1000:.2f}", median)
    assert cell.whole == f"{median:,.1f} ns"
    assert cell.notes == (f"[{(median - 5) / 1000:.2f}, {(median + 5) / 1000:.2f}]",)


def test_an_error_budget_that_all_share_stands_once_above(stress: list[Series]) -> None:
    table = comparison(stress)
    notes = {group.words: group.note for group in table.groups}
    # Probes are counted.
    assert (notes[WIRE], notes["probes of an allocation"]) == ("±0.02", "±0")
    assert not [cell for group in table.groups for line in group.lines for cell in line.cells
                if any("±" in note for note in cell.notes)]  # fmt: skip
    series, other = stress
    error_budgets = other.run.manifest.error_budget
    total = error_budgets[CRITICAL.key].total.model_copy(update={"ns": 47.6})
    wider = error_budgets | {CRITICAL.key: error_budgets[CRITICAL.key].model_copy(update={"total": total})}
    manifest = other.run.manifest.model_copy(update={"error_budget": wider})
    table = comparison([series, replace(other, run=replace(other.run, manifest=manifest))])
    assert {group.words: group.note for group in table.groups}[WIRE] == ""
    result = [cell_of(table, WIRE, "max", row).notes[0] for row in (0, 1)]
    assert sorted(result) == ["±0.02", "±0.05"]


def test_a_table_is_exported_with_its_values_whole(stress: list[Series]) -> None:
    frame = comparison(stress).frame()
    of_wire = frame.filter(pl.col("group") == WIRE, pl.col("allocator") == "seglist")
    summary = stress[0].run.summary(CRITICAL)
    assert of_wire.select("max", "n", "mean").row(0) == (summary.max, summary.n, summary.mean)
    assert frame["p99_99"].null_count() == len(frame)


BOUND = {"instructions": 700, "cycles": 1_000, "ns": 11_904.8, "why_not": None, "observed_cycles": 400,
         "ratio": 2.5}  # fmt: skip


@pytest.mark.parametrize("grows", [False, True])
def test_a_bound_stands_beside_the_maximum(tmp_path: Path, grows: bool, sentences: Sentences) -> None:
    unknown = {**dict.fromkeys(BOUND), "why_not": "nobody knows", "region_decided": False}
    bounds = {"allocate": BOUND | {"region_decided": grows}, "free": unknown}
    operations = [Operation("A", 16, 1, 300)]
    run = load_run(write_run(tmp_path, "s", "tlsf", operations, changes={"bounds": bounds}))
    sentences.hold(bounds_sentence(run))
    notes = cell_of(comparison(by_scenario([run])["s"]), "critical section by DWT (cycles)", "max").notes
    assert any("bound 1,000" in note and "2.5 ×" in note for note in notes)


@pytest.fixture
def exhausted(tmp_path: Path) -> list[Series]:
    """Three requests that are served and two that are refused, the latter with the longer walk."""
    operations = [
        Operation("A", 16, 1, 300),
        Operation("A", 16, 2, 320),
        Operation("O", 900, 9, 700),
        Operation("A", 16, 1, 310),
        Operation("O", 900, 9, 690),
        Operation("F", 16, 0, 200),
    ]
    folder = write_run(tmp_path, "until_full", "seglist", operations)
    worst = {**dict.fromkeys(OPERATION_COLUMNS), "value": 700, "times": 1, "seq": 2, "kind": "O"}
    path = folder / "run.json"
    document = json.loads(path.read_text())
    document["maxima"] |= {"dwt_cycles": worst, "critical_ns": worst, "interrupt_latency_ns": worst}
    path.write_text(json.dumps(document))
    return by_scenario([load_run(folder)])["until_full"]


def test_refused_requests_stand_apart_from_served_ones(exhausted: list[Series]) -> None:
    table = comparison(exhausted)
    counts = [cell_of(table, f"probes of {what}", "n").text for what in ("an allocation", "a served request")]
    assert counts == ["5", "3"]
    keys = ("n", "min", "mean", "stdev")
    assert [cell_of(table, "probes of a refused request", key).text for key in keys] == ["2", "9", "9", "0"]
    wire = "critical section of a {} request, on the wire (µs)"
    assert cell_of(table, wire.format("served"), "max").text == f"{320 / 84:.2f}"
    refused = [cell_of(table, wire.format("refused"), key).text for key in ("min", "mean")]
    assert refused == [f"{690 / 84:.2f}", f"{695 / 84:.2f}"]


def test_the_worst_of_all_says_that_it_was_refused(exhausted: list[Series]) -> None:
    table = comparison(exhausted)
    assert "of a refused request" in cell_of(table, WIRE, "max").notes
    latency = [cell_of(table, group.words, "max").notes for group in table.groups if "latency" in group.words]
    assert latency and not any("of a refused request" in notes for notes in latency)


def notes_of(grid: Grid) -> list[tuple[str, str]]:
    """The notes of all percentiles, with the words of their group."""
    percentiles = slice(5, None)
    return [
        (group.words, note)
        for group in grid.groups
        for line in group.lines
        for cell in line.cells[percentiles]
        for note in cell.notes
    ]


def test_an_interval_that_is_too_narrow_says_so(stress: list[Series], frag: list[Series]) -> None:
    table = comparison(stress)
    marked = [(words, note) for words, note in notes_of(table) if "†" in note]
    assert [words for words, _ in marked] == ["critical section by DWT (cycles)"] * len(stress)
    assert all(re.fullmatch(r"\[[\d,.]+, [\d,.]+\]†", interval) for _, interval in marked)
    assert "† The samples are not independent" in table.legend
    assert not [note for _, note in notes_of(comparison(frag)) if "†" in note]
