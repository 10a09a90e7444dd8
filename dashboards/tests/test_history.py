"""The history of settings: what changed, and whose change it is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from base.run_index import index
from dashboards.blocks import Chart, Grid
from dashboards.pages.history import changes, history, settings
from dashboards.tests.synthetic import Operation, write_run


def run(folder: Path, day: int, cycles: int, code: str, verdict: str = "complete") -> None:
    operations = [Operation("A", 16, 1, cycles)] * 3
    written = write_run(folder / "made", "mem_stress", "tlsf", operations, verdict=verdict)
    manifest = (written / "run.json").read_text().replace("ab" * 32, code * 32)
    (written / "run.json").write_text(manifest)
    written.rename(folder / written.name.replace("20250102", f"202501{day:02}"))


def test_a_change_is_the_codes_where_its_place_does_not_do_as_much(tmp_path: Path) -> None:
    """With the accelerator of FLASH_ACR 0x702 on, a place makes a section 1.10 times as long."""
    for day, (cycles, code) in enumerate(
        ((1_000, "aa"), (1_000, "bb"), (1_090, "cc"), (1_300, "dd"), (1_200, "dd")), start=1
    ):
        run(tmp_path, day, cycles, code)
    run(tmp_path, 9, 5_000, "ee", verdict="truncated")
    table = index(tmp_path)
    (of_setting,) = settings(table)
    assert [row["time"].day for row in of_setting] == [1, 2, 3, 4, 5]
    # The same length twice is no change, and neither is what is not complete.
    assert [(change.after["time"].day, change.why) for change in changes(of_setting)] == [
        (3, "other code, within what its place does"),
        (4, "the code changed"),
        (5, "same firmware: the wire, the board or the model differs"),
    ]
    page = history(table, {of_setting[3]["id"]})
    assert page is not None
    grid, chart = page.blocks
    assert isinstance(grid, Grid) and isinstance(chart, Chart)
    # Runs that have no page here are named, not linked.
    assert [line.run_id for line in grid.groups[0].lines] == ["", of_setting[3]["id"], ""]
    (trace,) = chart.figure.data
    assert list(trace.y) == pytest.approx([cycles / 84 for cycles in (1_000, 1_000, 1_090, 1_300, 1_200)])
    assert list(trace.marker.symbol) == ["circle", "circle", "circle", "triangle-up", "circle"]
    assert history(table.filter(pl.col("time").dt.day() < 2)) is None
