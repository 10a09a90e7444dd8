"""Probes of unmodified code, counted by the virtual board, against models that know nothing of the code."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from capture import conductor, redecode
from firmware import build as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from tests.search_models import MODELS, Model


def modelled(plan: Plan, model: Model) -> list[int]:
    """The looks of each operation; a free has none."""
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


@pytest.mark.parametrize("allocator", MODELS)
def test_each_operation_looked_at_what_the_model_looks_at(allocator: str, tmp_path: Path) -> None:
    plan = catalogue.load("mem_stress").compile()
    result = conductor.run(plan, firmware.build(allocator), runs_folder=tmp_path)
    assert (result.verdict, result.reasons) == ("complete", ())
    counted = pl.read_parquet(result.folder / "operations.parquet")["probes"].to_list()
    assert counted == modelled(plan, MODELS[allocator]())
    assert max(counted) > 5


@pytest.mark.parametrize(
    ("allocator", "source"),
    [
        ("dlmalloc", "counted by the virtual board"),
        ("tlsf_conte", "no search loop"),
        ("tlsf", "records"),
    ],
)
def test_a_run_says_who_counted_and_says_so_again_when_redecoded(
    allocator: str, source: str, tmp_path: Path
) -> None:
    plan = catalogue.load("mem_frag", {"depth": 4}).compile()
    result = conductor.run(plan, firmware.build(allocator), runs_folder=tmp_path)
    kept = [result.folder / name for name in ("run.json", "operations.parquet")]
    before = [path.read_bytes() for path in kept]
    manifest = json.loads(before[0])
    assert manifest["probes_source"] == source
    assert manifest["probes"]["n"] == (0 if source == "no search loop" else 12)
    redecode.redecode(result.folder)
    assert [path.read_bytes() for path in kept] == before
