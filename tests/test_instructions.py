"""Instructions of a run that is captured, against the simulator's own windows of CRIT."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from base.run_folder.edges import read_parquet
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from simulator import run as simulator
from tests.run_folders import seal


def counted_by_a_run(elf: Path, image: bytes) -> pl.DataFrame:
    """The windows of CRIT: start and end in cycles since reset, and the instructions in each."""
    done = simulator.run(elf, image=image, until="3s", counts={"all": "*"}, count_window="CRIT")
    return done.windows


@pytest.mark.parametrize(
    ("allocator", "scenario", "parameters"),
    [
        ("seglist", "mem_stress", {"operations": 150}),
        ("dlmalloc", "mem_frag", {"depth": 6}),
        ("tlsf", "kernel_masking", {"depth": 3, "rounds": 3}),
    ],
)
def test_an_operation_has_those_of_its_critical_sections(
    allocator: str, scenario: str, parameters: dict[str, int | str], tmp_path: Path
) -> None:
    """At 84 MS/s a sample is a cycle, so a section lies in the operation that its start is in."""
    plan = catalogue.load(scenario, parameters).compile()
    built = firmware.build(allocator, extras=plan.extras)
    result = conduct.run(Direct(RunRequest(plan, built, runs=tmp_path, samplerate_hz=84_000_000)))
    table = pl.read_parquet(result.folder / "operations.parquet")
    crit = read_parquet(result.folder / "edges.parquet").transitions("CRIT")
    windows = counted_by_a_run(built.elf, plan.image)
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


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan: Plan = catalogue.load("mem_frag", {"depth": 4}).compile()
    return conduct.run(
        Sigrok(RunRequest(plan, firmware.build("tlsf"), runs=tmp_path_factory.mktemp("runs")))
    ).folder


def redecoded(stored: Path, tmp_path: Path, counts: bytes | None) -> tuple[dict[str, Any], pl.Series]:
    """run.json and the column, once `counts` is in the place of the table."""
    folder = tmp_path / stored.name
    shutil.copytree(stored, folder)
    (folder / "counts.csv").unlink()
    if counts is not None:
        (folder / "counts.csv").write_bytes(counts)
        seal(folder)
    conduct.redecode(folder)
    manifest = json.loads((folder / "run.json").read_text())
    return manifest, pl.read_parquet(folder / "operations.parquet")["instructions"]


def test_a_stored_run_tells_them_again(stored: Path, tmp_path: Path) -> None:
    before = [(stored / name).read_bytes() for name in ("run.json", "operations.parquet")]
    manifest, _ = redecoded(stored, tmp_path, (stored / "counts.csv").read_bytes())
    contents = [(tmp_path / stored.name / name).read_bytes() for name in ("run.json", "operations.parquet")]
    assert contents == before and manifest["instructions"]["n"] == 12 and manifest["warnings"] == []


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda _: None, "counts.csv is missing"),
        (lambda table: table[: len(table) // 2], "windows, and the records tell of"),
        (lambda table: b"".join(table.splitlines(keepends=True)[:1]), "it has 0 windows"),
        (lambda _: b"", "it is no table"),
        (lambda _: b"\xff\x00" * 50, "it is no table"),
    ],
)
def test_without_a_sound_table_there_are_none_and_a_warning(
    stored: Path, tmp_path: Path, damage: Any, why: str
) -> None:
    manifest, column = redecoded(stored, tmp_path, damage((stored / "counts.csv").read_bytes()))
    (warning,) = manifest["warnings"]
    assert why in warning and manifest["verdict"] == "complete"
    assert column.null_count() == len(column)
    assert (manifest["instructions"]["n"], manifest["maxima"]["instructions"]) == (0, None)
