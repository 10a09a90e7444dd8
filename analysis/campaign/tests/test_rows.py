"""The row of a run, and of one that could not be made."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from analysis.campaign.matrix import Point
from analysis.campaign.rows import COLUMNS, failed_row, row_of
from analysis.compare.tests.made import write
from base.run_folder.manifest import read_manifest


def test_the_row_of_a_run_that_could_not_be_made_has_its_settings() -> None:
    point = Point(
        "mem_frag", "tlsf", {"trials": 1, "depth": 8}, 7, 4_096, "off", "primask", {"b": 2, "a": 1}, 24,
        board="nucleo-f411re",
    )  # fmt: skip
    settings = {
        "key": "aa", "state": "failed", "verified": None, "scenario": "mem_frag", "allocator": "tlsf",
        "parameters": "depth=8, trials=1", "seed": "7", "art": False, "locking": "primask",
        "board_folder": "nucleo-f411re",
        "knobs": "a=1, b=2", "heap_bytes": 4_096, "placement": 0, "samplerate_hz": 24, "verdict": None,
        "reason": "Why.",
    }  # fmt: skip
    assert failed_row("aa", point, "Why.") == settings
    plain = failed_row("aa", Point("mem_frag", "tlsf"), "x" * 601)
    assert (plain["seed"], plain["art"], plain["reason"]) == (None, True, "x" * 600)


def test_the_row_of_a_run_has_each_statistic_of_each_quantity(tmp_path: Path) -> None:
    """Of sections of 400, 600 and 350 samples of 1/84 us, and of two frees."""
    manifest = read_manifest(write(tmp_path, exact=True) / "run.json")
    row = row_of("aa", manifest, verified=True)
    assert (row["key"], row["state"], row["verified"], row["scenario"]) == ("aa", "finished", True, "made")
    assert set(row) <= set(COLUMNS)
    statistics = ("n", "min", "mean", "median", "p99", "p99_9", "max")
    for key, values in (("critical_ns", (3, 350, 450, 400, None, None, 600)), ("free_dwt_cycles", None)):
        n, *others = values or (2, 190, 200, 190, None, None, 210)
        per = 84e6 / 1e9 if key.endswith("_ns") else 1
        expected = [n, *(None if value is None else pytest.approx(value / per) for value in others)]
        assert [row[f"{key}_{name}"] for name in statistics] == expected
        assert [COLUMNS[f"{key}_{name}"] for name in statistics] == [pl.Int64, *[pl.Float64] * 6]
