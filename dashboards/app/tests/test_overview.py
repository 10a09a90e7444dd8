"""The rows of the table of runs: which are shown, and what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

from base.run_index.index import index
from dashboards.app.overview import counted, rows
from dashboards.tests.synthetic import mem_frag, write_run


def test_of_runs_alike_the_latest_stands_for_all(tmp_path: Path) -> None:
    run = write_run(tmp_path, "mem_frag", "seglist", mem_frag("seglist", 8))
    other = write_run(tmp_path, "mem_frag", "tlsf", mem_frag("tlsf", 8))
    older = tmp_path / run.name.replace("2025", "2024")
    shutil.copytree(run, older)
    table = index(tmp_path, None)
    assert {row["id"]: row["repeats"] for row in rows(table)} == {run.name: 2, other.name: 1}
    assert {row["id"] for row in rows(table, repeats=True)} == {run.name, other.name, older.name}


def test_a_row_says_what_was_chosen(tmp_path: Path) -> None:
    write_run(tmp_path, "mem_frag", "seglist", mem_frag("seglist", 8))
    (row,) = rows(index(tmp_path, None))
    assert "84.0 MS/s" in row["options"] and "heap 65536" in row["options"]


def test_a_run_under_way_is_told_from_one_that_was_killed(tmp_path: Path) -> None:
    for name in ("20250102T030405Z-a", "20250102T030406Z-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "operations.bin").write_bytes(b"")
    table, going = index(tmp_path, None), ["20250102T030406Z-b"]
    verdicts = {row["id"]: row["verdict"] for row in rows(table, going)}
    assert verdicts == {"20250102T030405Z-a": "unfinished", "20250102T030406Z-b": "under way"}
    assert counted(table, going) == "2 run folders: 1 under way, 1 unfinished."
    assert counted(table.clear()).endswith("run a scenario: ./lab scenario mem_frag.")
