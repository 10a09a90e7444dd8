"""Probes of unmodified code, counted by the virtual board, against models that ignore the code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from base.paths import ROOT
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from firmware.build.catalogue import allocators
from scenarios import catalogue
from scenarios.plan import Plan
from simulator.outputs import read_windows
from tests.run_folders import manifest, operations
from tests.search_models import MODELS, Model

NO_ZEPHYR = allocators()["sys_heap"].missing_checkout()
README = ROOT / "firmware" / "heap" / "README.md"


def modelled(plan: Plan, model: Model) -> list[int]:
    """The looks of each operation by `model`. A free has none."""
    addresses: dict[int, int | None] = {}
    looks = []
    for row in plan.operations.iter_rows(named=True):
        if row["kind"] == "A":
            addresses[row["id"]], looked = model.allocate(row["size"])
            looks.append(looked)
        else:
            if (address := addresses.pop(row["id"])) is not None:
                model.free(address)
            looks.append(0)
    return looks


@pytest.mark.parametrize(
    "allocator",
    [
        *(name for name in MODELS if name != "sys_heap"),
        pytest.param("sys_heap", marks=pytest.mark.skipif(NO_ZEPHYR is not None, reason=str(NO_ZEPHYR))),
    ],
)
def test_each_operation_looked_at_what_the_model_looks_at(allocator: str, tmp_path: Path) -> None:
    plan = catalogue.load("mem_stress").compile()
    result = conduct.run(Direct(RunRequest(plan, firmware.build(allocator), runs=tmp_path)))
    assert (result.verdict, result.reasons) == ("complete", ())
    counted = operations(result.folder)["probes"].to_list()
    assert counted == modelled(plan, MODELS[allocator]())
    assert max(counted) > 2
    document = manifest(result.folder)
    probes = document["probes"]
    cells = (document["counts"]["allocations"], probes["median"], probes["p99"], probes["max"])
    assert readme_row(allocator)[:5] == [allocator, *map(str, cells)]


def readme_row(allocator: str) -> list[str]:
    """The cells of the allocator's row in the table of counted probes."""
    rows = [
        line.strip("| \n").split(" | ") for line in README.read_text().splitlines() if line.startswith("| ")
    ]
    (result,) = [row for row in rows if row[0] == allocator and row[1:2] == ["617"]]
    return result


@pytest.mark.parametrize("allocator", MODELS)
def test_the_readme_says_what_a_model_looks_at_in_mem_frag(allocator: str) -> None:
    plan = catalogue.load("mem_frag").compile()
    looks = pl.Series("looks", modelled(plan, MODELS[allocator]()))
    measured = plan.operations.with_columns(looks).filter(pl.col("measured") & (pl.col("kind") == "A"))
    worst = dict(measured.group_by("depth").agg(pl.col("looks").max()).iter_rows())
    assert readme_row(allocator)[5:] == [str(worst[depth]) for depth in (1, 64, 256)]


def test_counting_changes_nothing_that_is_measured(tmp_path: Path) -> None:
    plan = catalogue.load("mem_frag", {"depth": 4}).compile()
    image = firmware.build("heap_4")
    counted = conduct.run(Sigrok(RunRequest(plan, image, runs=tmp_path)))
    plain = conduct.run(Sigrok(RunRequest(plan, replace(image, looks=()), runs=tmp_path)))
    for name in ("edges.parquet", "uart.log", "interrupts.parquet"):
        assert (plain.folder / name).read_bytes() == (counted.folder / name).read_bytes()
    assert read_windows((plain.folder / "counts.csv").read_bytes()).columns[3:] == ["instructions"]
    document = manifest(plain.folder)
    assert (document["verdict"], document["probes_source"]) == ("complete", "not counted")
    assert document["probes"]["n"] == 0
