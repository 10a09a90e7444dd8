"""Faults of a stored run: what is altered in the copy, and that readers refuse it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from base.run_folder.folder import MANIFEST, PLAN, digest
from quality.faults import series
from quality.faults.planting import Fault, Healthy, beside_each_other, read_healthy
from quality.faults.tests.test_series import store


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Healthy]:
    places = [store(tmp_path_factory.mktemp("runs"), depth=depth) for depth in (3, 4)]
    return beside_each_other(read_healthy(place) for place in places)


def kinds(runs: list[Healthy]) -> list[str]:
    return list(runs[0].folder_kinds)


def test_every_file_and_every_fact_is_a_kind(runs: list[Healthy]) -> None:
    files = {kind.partition(".")[2] for kind in kinds(runs) if kind.startswith("other_file.")}
    assert files == {
        *("operations.bin", "plan.parquet", "uart.log", "edges.parquet"),
        *("operations.parquet", "interrupts.parquet"),
    }
    facts = {kind.partition(".")[2] for kind in kinds(runs) if kind.startswith("altered_plan.")}
    assert facts == {"scenario", "seed", "parameters", "measured", "label", "trial", "depth"}


def test_each_is_detected_or_harmless(runs: list[Healthy]) -> None:
    outcomes = [series.replay(runs, Fault(kind, 0), 7) for kind in kinds(runs)]
    assert [outcome.as_json() for outcome in outcomes if not outcome.sound] == []
    assert {outcome.fate for outcome in outcomes if outcome.fault.kind.startswith("other_file.")} == {
        "detected"
    }
    assert {outcome.fate for outcome in outcomes if outcome.fault.kind == "altered_allocator"} == {"detected"}


def test_a_fact_is_altered_in_the_copy_alone(runs: list[Healthy], tmp_path: Path) -> None:
    run = runs[0]
    assert run.folder is not None
    before = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    copy = replace(run, folder=tmp_path)
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    copy.folder_kinds["altered_plan.depth"](tmp_path, Fault("altered_plan.depth", 0).random(1))
    table, other = (pl.read_parquet(folder / PLAN) for folder in (run.folder, tmp_path))
    assert sum(a != b for a, b in zip(table["depth"], other["depth"], strict=True)) == 1
    assert table.drop("depth").equals(other.drop("depth"))
    paths = json.loads((tmp_path / MANIFEST).read_text(encoding="utf-8"))["files"]
    assert paths[PLAN] == digest(tmp_path / PLAN)
    assert {path.name: path.read_bytes() for path in run.folder.iterdir()} == before
