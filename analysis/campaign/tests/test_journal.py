"""What counts as done, what is forgotten, and what a campaign's folder says of itself."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import polars as pl
import pytest

from analysis.campaign.matrix import Point
from analysis.campaign.rows import COLUMNS, DIFFERS, failed_row, row_of
from analysis.campaign.store import Store
from analysis.campaign.tests.made import outcome
from analysis.campaign.work import Outcome, Sample
from analysis.compare.tests.made import write
from analysis.errors import CampaignError
from base.run_folder.manifest import read_manifest

COMPLETE: dict[str, Any] = {"verdict": "complete"}
FAILED: dict[str, Any] = {"verdict": None, "state": "failed"}
DIFFERENT: dict[str, Any] = {"verdict": None, "state": DIFFERS}


def stored(folder: Path, *attempts: dict[str, Any], key: str = "aa") -> Store:
    store = Store(folder)
    with store.writing():
        for one in attempts:
            store.add(outcome(key, **one))
    return store


@pytest.mark.parametrize(
    ("attempts", "settled", "settled_verified"),
    [
        ([], False, False),
        ([COMPLETE], True, False),
        ([{**COMPLETE, "verified": True}], True, True),
        ([{**COMPLETE, "verified": False}], True, False),
        ([FAILED] * 2, False, False),
        ([FAILED] * 3, True, True),
        ([{"verdict": "inconclusive"}] * 2, False, False),
        ([{"verdict": "truncated"}, FAILED, {"verdict": "inconclusive"}], True, True),
        ([FAILED, FAILED, COMPLETE], True, False),
        # A direct run that differs is tried until it does no more: it is no failure.
        ([DIFFERENT] * 9, False, False),
        ([FAILED, FAILED, DIFFERENT], False, False),
        ([DIFFERENT, {**COMPLETE, "verified": True}], True, True),
    ],
)
def test_a_run_is_settled(
    tmp_path: Path, attempts: list[dict[str, Any]], settled: bool, settled_verified: bool
) -> None:
    for store in (stored(tmp_path, *attempts), Store(tmp_path)):
        assert (store.settled("aa"), store.settled("aa", verify=True)) == (settled, settled_verified)
        assert store.attempts("aa") == len(attempts)
        assert not store.settled("bb") and store.attempts("bb") == 0


def test_runs_are_counted_by_what_came_of_them(tmp_path: Path) -> None:
    kinds = (COMPLETE, {**COMPLETE, "verified": True}, {**COMPLETE, "verified": False}, FAILED, DIFFERENT)
    for number, kind in enumerate(kinds):
        store = stored(tmp_path, kind, key=str(number))
    assert (store.stored, store.complete, store.verified) == (5, 3, 1)
    assert Store(tmp_path / "none").stored == 0


@pytest.mark.parametrize(
    ("doubt", "kept"), [(False, ["direct", "real", "verified"]), (True, ["real", "verified"])]
)
def test_where_one_direct_run_differs_only_verified_and_real_ones_are_believed(
    tmp_path: Path, doubt: bool, kept: list[str]
) -> None:
    for key, kind in (("real", None), ("direct", False), ("verified", True)):
        stored(tmp_path, {**COMPLETE, "verified": kind}, key=key)
    stored(tmp_path, {"verdict": "inconclusive"}, key="unsure")
    store = stored(tmp_path, DIFFERENT if doubt else FAILED, key="other")
    store.keep_matrix(b"", 5)
    with store.writing():
        store.end()
        assert store.over
        assert store.clean() == 5 - len(kept)
        assert not store.over
        assert store.clean() == 0
    assert store.rows().collect()["key"].to_list() == kept
    assert sorted(path.stem for path in tmp_path.rglob("*.parquet")) == kept


def test_a_damaged_table_is_forgotten_with_what_is_not_complete(tmp_path: Path) -> None:
    for key in ("aa", "bb"):
        store = stored(tmp_path, COMPLETE, key=key)
    (tmp_path / "operations" / "scenario=mem_frag" / "allocator=tlsf" / "aa.parquet").write_bytes(b"else")
    with store.writing():
        assert store.clean() == 1
    assert (Store(tmp_path).settled("aa"), Store(tmp_path).settled("bb")) == (False, True)


def asked(folder: Path) -> Any:
    return json.loads((folder / "asked.json").read_text())


def test_the_folder_keeps_what_was_asked_and_whether_it_ended(tmp_path: Path) -> None:
    store = stored(tmp_path, COMPLETE)
    assert (store.points(), store.over) == (1, False)  # nobody knows what was asked
    store.keep_matrix(b"text", 7)
    assert (asked(tmp_path), store.points(), store.over) == (
        {"schema": 1, "runs": 7, "over": False},
        7,
        False,
    )
    store.end()
    assert (asked(tmp_path), store.points()) == ({"schema": 1, "runs": 7, "over": True}, 7)
    assert store.over


def test_runs_of_another_matrix_are_told_apart(tmp_path: Path) -> None:
    empty = Store(tmp_path / "empty")
    with empty.writing():
        empty.keep_matrix(b"one", 1)
    assert not empty.holds_another(b"two")
    store = stored(tmp_path / "some", COMPLETE)
    assert not store.holds_another(b"one")
    store.keep_matrix(b"one", 1)
    assert [store.holds_another(text) for text in (b"one", b"two")] == [False, True]


def test_both_runs_are_kept_while_they_differ(tmp_path: Path) -> None:
    held = BytesIO()
    with ZipFile(held, "w") as archive:
        archive.writestr("direct/run.json", "{}")
    row = outcome("aa", None, state=DIFFERS).row
    store = Store(tmp_path)
    with store.writing():
        store.add(
            Outcome("aa", row, differing=held.getvalue()), Outcome("bb", row, differing=held.getvalue())
        )
    assert store.differing("aa") == tmp_path / "differing" / "aa"
    assert (store.differing("aa") / "direct" / "run.json").read_text() == "{}"
    with store.writing():
        store.add(outcome("aa"))
    assert [path.name for path in (tmp_path / "differing").iterdir()] == ["bb"]
    with store.writing():
        store.add(outcome("bb"))
    assert not (tmp_path / "differing").exists()


def test_the_files_of_a_run_are_found_by_its_scenario_allocator_and_key(tmp_path: Path) -> None:
    store = stored(tmp_path, {**COMPLETE, "scenario": "folder/mine.toml", "allocator": "heap_4"})
    (path,) = tmp_path.rglob("*.parquet")
    assert path == tmp_path / "operations" / "scenario=mine" / "allocator=heap_4" / "aa.parquet"
    assert (store.gone(), store.scratch) == (0, tmp_path / ".scratch")


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda folder: Store.existing(folder / "x"),
         "{0}/x is no folder of a campaign: it has no journal.sqlite."),
        (lambda folder: stored(folder / "full", COMPLETE),
         "{0}/full is not empty, and no folder of a campaign: give another --output."),
        (lambda folder: stored(folder / "run", {**COMPLETE, "allocator": "a/b"}),
         "{0}/run/journal.sqlite has a run that nobody can have made; remove the folder."),
    ],
)  # fmt: skip
def test_what_a_campaign_refuses_is_said_whole(tmp_path: Path, act: Any, sentence: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(CampaignError) as refused:
        act(tmp_path)
    assert str(refused.value) == sentence.format(tmp_path)


def test_the_row_of_a_run_that_could_not_be_made_has_its_settings() -> None:
    point = Point(
        "mem_frag", "tlsf", {"trials": 1, "depth": 8}, 7, 4_096, "off", "primask", {"b": 2, "a": 1}, 24,
        board="nucleo-f411re",
    )  # fmt: skip
    told = {
        "key": "aa", "state": "failed", "verified": None, "scenario": "mem_frag", "allocator": "tlsf",
        "parameters": "depth=8, trials=1", "seed": "7", "art": False, "locking": "primask",
        "board_folder": "nucleo-f411re",
        "knobs": "a=1, b=2", "heap_bytes": 4_096, "placement": 0, "samplerate_hz": 24, "verdict": None,
        "reason": "Why.",
    }  # fmt: skip
    assert failed_row("aa", point, "Why.") == told
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
        expected = [n, *(None if one is None else pytest.approx(one / per) for one in others)]
        assert [row[f"{key}_{name}"] for name in statistics] == expected
        assert [COLUMNS[f"{key}_{name}"] for name in statistics] == [pl.Int64, *[pl.Float64] * 6]


def test_the_first_of_each_image_and_rate_is_made_both_ways_and_a_share_of_the_others() -> None:
    one, other = (SimpleNamespace(digest=name) for name in "ab")
    low, middle, high = ("0" * 64, f"8{'0' * 63}", "f" * 64)
    sample = Sample(0.5)
    asked_: list[tuple[str, Any, int]] = [
        *((high, one, 84), (high, one, 84), (high, one, 24), (high, other, 84)),
        *((low, one, 84), (middle, one, 84)),
    ]
    assert [sample.takes(*each) for each in asked_] == [True, False, True, True, True, False]
    assert not Sample(0.0).takes(low, one, 84)  # type: ignore[arg-type]
