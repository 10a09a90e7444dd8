"""The folder of a campaign: nothing is lost, nothing is believed that is not whole."""

from __future__ import annotations

import json
import os
import signal
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.campaign.rows import DIFFERS
from analysis.campaign.store import RESULTS, RUNS, Store
from analysis.campaign.tests.made import key, outcome
from analysis.campaign.work import Outcome
from analysis.errors import CampaignError
from base.files.errors import RunError
from tests.sentences import Sentences

COMPLETE: dict[str, Any] = {"verdict": "complete"}
FAILED: dict[str, Any] = {"verdict": None, "state": "failed"}
DIFFERENT: dict[str, Any] = {"verdict": None, "state": DIFFERS}


def stored(folder: Path, *outcomes: Outcome) -> Store:
    store = Store(folder)
    with store.writing():
        for made in outcomes:
            store.add(made)
        store.keep_matrix(b"text", len(outcomes))
    return store


def attempted(folder: Path, *attempts: dict[str, Any], number: int = 10) -> Store:
    return stored(folder, *(outcome(number, **attempt) for attempt in attempts))


def result(folder: Path, number: int) -> Path:
    return folder / RESULTS / f"{key(number)}.json"


def test_the_table_does_not_tell_in_which_order_the_runs_came(tmp_path: Path) -> None:
    runs = [outcome(1, critical_ns_max=2.0), outcome(2), outcome(3, table=b"others")]
    tables = {
        stored(tmp_path / str(number), *order).write_runs().read_bytes()
        for number, order in enumerate(permutations(runs))
    }
    assert len(tables) == 1
    assert pl.read_parquet(tmp_path / "0" / RUNS)["key"].to_list() == [key(1), key(2), key(3)]


def test_a_command_that_is_killed_leaves_what_it_added(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        store = Store(tmp_path)
        with store.writing():
            store.keep_matrix(b"text", 3)
            store.add(outcome(1))
            store.add(outcome(2))
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    again = Store(tmp_path)
    assert [again.settled(key(number)) for number in (1, 2, 3)] == [True, True, False]
    with again.writing():
        again.add(outcome(3))
    assert len(Store(tmp_path).results) == 3


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
    for store in (attempted(tmp_path, *attempts), Store(tmp_path)):
        assert (store.settled(key(10)), store.settled(key(10), verify=True)) == (settled, settled_verified)
        assert not store.settled(key(11))


@pytest.mark.parametrize(("doubt", "kept"), [(False, [1, 2, 3]), (True, [1, 3])])
def test_where_one_direct_run_differs_only_verified_and_real_ones_are_believed(
    tmp_path: Path, doubt: bool, kept: list[int]
) -> None:
    store = stored(
        tmp_path,
        *(outcome(number, verified=kind) for number, kind in ((1, None), (2, False), (3, True))),
        outcome(4, "inconclusive"),
        outcome(5, **(DIFFERENT if doubt else FAILED)),
    )
    with store.writing():
        store.keep_matrix(b"text", 5, over=True)
        assert store.clean() == 5 - len(kept)
        assert store.asked == (5, False)
        assert store.clean() == 0
    assert store.rows()["key"].to_list() == [key(number) for number in kept]
    assert sorted(path.stem for path in tmp_path.rglob("*.parquet")) == [key(number) for number in kept]
    assert Store(tmp_path).results == store.results


def test_tables_that_are_gone_are_noticed_and_cleaned(tmp_path: Path) -> None:
    store = stored(tmp_path, *(outcome(number) for number in (1, 2)))
    assert store.gone() == 0
    next(tmp_path.rglob(f"{key(1)}.parquet")).unlink()
    assert store.gone() == 1
    with store.writing():
        assert store.clean() == 1
    again = Store(tmp_path)
    assert [again.settled(key(number)) for number in (1, 2)] == [False, True]
    assert [path.stem for path in tmp_path.rglob("*.parquet")] == [key(2)]


def test_a_result_from_elsewhere_is_one_sentence(tmp_path: Path, sentences: Sentences) -> None:
    stored(tmp_path, outcome(1))
    path = result(tmp_path, 1)
    document = json.loads(path.read_text())
    row = document["row"]
    for changed in (
        {**document, "schema": 2},
        {**document, "row": {**row, "key": key(2)}},
        {**document, "row": {**row, "allocator": "../.."}},
        {**document, "tables": ["../x"]},
    ):
        path.write_text(json.dumps(changed))
        with sentences.raised(CampaignError):
            Store(tmp_path)


def test_a_row_of_another_kind_is_one_sentence(tmp_path: Path) -> None:
    stored(tmp_path, outcome(1, critical_ns_max="x"))
    with pytest.raises(CampaignError, match=r"clean .* forgets them"):
        Store(tmp_path).rows()


def test_two_commands_do_not_write_at_once(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    with first.writing(), pytest.raises(CampaignError, match="Another campaign"), second.writing():
        pass


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    store = Store(tmp_path)
    with pytest.raises(CampaignError, match="not empty, and no folder of a campaign"), store.writing():
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    with pytest.raises(CampaignError, match=r"no folder of a campaign: it has no asked\.json"):
        Store.existing(tmp_path)


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "campaign", tmp_path / "outside"
    outside.mkdir()
    stored(folder)
    (folder / "operations").symlink_to(outside)
    with pytest.raises(RunError, match="operations: is a symbolic link"):
        Store.existing(folder)


def test_runs_of_another_matrix_are_told_apart(tmp_path: Path) -> None:
    assert not stored(tmp_path / "empty").holds_another(b"other")
    store = stored(tmp_path / "some", outcome(1))
    assert [store.holds_another(text) for text in (b"text", b"other")] == [False, True]


def test_both_runs_stay_while_they_differ(tmp_path: Path) -> None:
    files = {"sigrok/run.json": b"{}", "direct/run.json": b"{ }"}
    differing = Outcome(key(1), outcome(1, **DIFFERENT).row, differing=files)
    store = stored(tmp_path, differing)
    folder = store.differing(key(1))
    assert (folder / "direct" / "run.json").read_bytes() == b"{ }"
    with store.writing():
        store.add(outcome(1))
    assert not folder.exists()


def test_the_files_of_a_run_lie_by_its_scenario_allocator_and_key(tmp_path: Path) -> None:
    store = stored(tmp_path, outcome(1, scenario="folder/mine.toml", allocator="heap_4"))
    (path,) = tmp_path.rglob("*.parquet")
    assert path == tmp_path / "operations" / "scenario=mine" / "allocator=heap_4" / f"{key(1)}.parquet"
    assert (store.gone(), store.scratch) == (0, tmp_path / ".scratch")
