"""Instructions of a run that is captured, against the simulator's own windows of CRIT."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from base.run_folder.edges import read_parquet
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator
from tests.tables import table


@table
def test_an_operation_has_those_of_its_critical_sections(
    allocator: str, scenario: str, parameters: dict[str, int | str], tmp_path: Path
) -> None:
    """At 84 MS/s a sample is a cycle, so a section lies in the operation that its start is in."""
    plan = catalogue.load(scenario, parameters).compile()
    built = firmware.build(allocator, extras=plan.extras)
    result = conduct.run(Direct(RunRequest(plan, built, runs=tmp_path, samplerate_hz=84_000_000)))
    table = pl.read_parquet(result.folder / "operations.parquet")
    crit = read_parquet(result.folder / "edges.parquet").transitions("CRIT")
    windows = simulator.run(
        built.elf, image=plan.image, until="3s", counts={"all": "*"}, count_window="CRIT"
    ).windows
    assert windows.height == int(crit.level.sum())
    sections = windows.with_columns(sample=pl.Series(crit.sample[crit.level]))
    expected = [
        sections.filter(pl.col("sample").is_between(start, start + width))["all"].sum()
        for start, width in table.select("start_sample", "wire_operation_samples").iter_rows()
    ]
    assert table["instructions"].to_list() == expected
    assert min(expected) > 0
    # Kernel calls enter several sections.
    assert scenario != "kernel_masking" or windows.height > 48 + table.height
    document = json.loads((result.folder / "run.json").read_text())
    measured = table.filter("measured", pl.col("kind") == "A")["instructions"]
    if len(measured):
        assert document["instructions"]["mean"] == pytest.approx(measured.mean())
        assert document["maxima"]["instructions"]["value"] == measured.max()
