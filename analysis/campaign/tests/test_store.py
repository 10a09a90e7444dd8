"""The folder of a campaign: nothing is lost, nothing is believed that is not whole."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from analysis.campaign.errors import CampaignError
from analysis.campaign.store import JOURNAL, MOST_ATTEMPTS, RUNS, Store
from analysis.campaign.tests.made import outcome
from analysis.campaign.work import Outcome


def test_the_table_does_not_tell_in_which_order_the_runs_came(tmp_path: Path) -> None:
    runs = [outcome("aa", allocate_max_ns=2.0), outcome("bb"), outcome("cc", table=b"others")]
    written = set()
    for number, order in enumerate(permutations(runs)):
        store = Store(tmp_path / str(number))
        with store.writing():
            for one in order:
                store.add(one)
        written.add(store.write_runs().read_bytes())
    assert len(written) == 1
    assert pl.read_parquet(tmp_path / "0" / RUNS)["key"].to_list() == ["aa", "bb", "cc"]


def test_a_line_that_a_killed_command_cut_is_as_if_it_had_not_been(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(outcome("aa"))
        store.add(outcome("bb"))
    whole = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(whole[:-3])
    again = Store(tmp_path)
    assert again.settled("aa") and not again.settled("bb")
    with again.writing():
        again.add(outcome("bb"))
    assert (tmp_path / JOURNAL).read_bytes() == whole


def test_a_damaged_line_is_told_with_its_number(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_bytes(b'{"row": 1}\n')
    with pytest.raises(CampaignError, match=rf"{JOURNAL}:1: "):
        Store(tmp_path)


def test_what_is_not_complete_is_tried_a_bounded_number_of_times(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        for attempt in range(MOST_ATTEMPTS):
            assert not store.settled("aa")
            store.add(outcome("aa", "inconclusive", reason=f"attempt {attempt}"))
    assert Store(tmp_path).settled("aa")
    assert Store(tmp_path).rows()["reason"].to_list() == [f"attempt {MOST_ATTEMPTS - 1}"]


def test_clean_forgets_what_is_not_complete(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(outcome("aa", "inconclusive"))
        store.add(outcome("bb", "inconclusive"))
        store.add(outcome("bb"))
    with store.writing():
        assert store.clean() == 1
    again = Store(tmp_path)
    assert again.attempts("aa") == 0 and again.settled("bb")
    assert [path.stem for path in tmp_path.rglob("*.parquet")] == ["bb"]


def test_a_table_whose_bytes_changed_on_the_way_is_not_stored(tmp_path: Path) -> None:
    sent = outcome("aa")
    store = Store(tmp_path)
    with store.writing(), pytest.raises(CampaignError, match="came damaged"):
        store.add(Outcome("aa", sent.row, {"operations": b"other"}, sent.digests))
    assert not Store(tmp_path).settled("aa")


def test_two_commands_do_not_write_at_once(tmp_path: Path) -> None:
    with (
        Store(tmp_path).writing(),
        pytest.raises(CampaignError, match="Another campaign"),
        Store(tmp_path).writing(),
    ):
        pass


def test_another_folder_is_no_campaigns(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="no folder of a campaign"):
        Store.existing(tmp_path)
