"""A run until memory is full: whole, judged complete, and what is altered in it is noticed."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import polars as pl
import pytest

from capture import conduct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import RunResult
from firmware.build import image as firmware
from scenarios import catalogue

OVERRIDES = {"requests": 160, "size_min_bytes": 2000, "size_max_bytes": 2400}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    plan = catalogue.load("until_full_aligned", OVERRIDES).compile()
    return conduct.run(
        Sigrok(RunRequest(plan, firmware.build("first_fit"), runs=tmp_path_factory.mktemp("runs")))
    )


def kinds(result: RunResult) -> str:
    return "".join(pl.read_parquet(result.folder / "operations.parquet")["kind"])


def test_the_run_is_complete_and_nothing_is_lost(run: RunResult) -> None:
    manifest = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    assert (run.verdict, manifest["reasons"]) == ("complete", [])
    counts = manifest["counts"]
    assert counts["operations"] == 3 * 160
    assert sum(counts.values()) == 2 * counts["operations"]
    assert counts["allocations"] == counts["frees"] > 10
    assert counts["out_of_memory"] >= 3
    assert counts["skipped"] > 0


def test_memory_runs_out_as_the_crate_s_loop_has_it(run: RunResult) -> None:
    """Served and no retry, refused and a retry that is served; two refusals, and nothing more. Then
    the frees, of which the last blocks come first.
    """
    order = kinds(run)
    assert re.fullmatch(r"(AS|OA)*OO(SS)*N+F+", order)
    requests = order[:320]
    assert order.count("F") == requests.count("A")
    table = pl.read_parquet(run.folder / "operations.parquet")
    live = table["live"].to_list()
    assert all(abs(number - other) <= 1 for number, other in pairwise(live))
    assert live[-1] == 0
    assert table.filter(pl.col("kind").is_in(["S", "N"]))["wire_critical_ns"].null_count() == sum(
        order.count(kind) for kind in "SN"
    )
