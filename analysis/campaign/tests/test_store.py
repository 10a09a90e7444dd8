"""The folder of a campaign: nothing is lost, nothing is believed that is not whole."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from analysis.campaign.matrix import Point
from analysis.campaign.store import Store
from analysis.campaign.tests.made import key, outcome
from analysis.campaign.work import Order, Outcome, difference, is_verified
from analysis.compare.tests.made import write
from analysis.errors import CampaignError
from base.files.errors import TailscopeError
from tests.tables import beside, table

ENDS: dict[str, dict[str, Any]] = {
    name: {"verdict": None, **row} for name, row in beside(__file__)["ends"].items()
}


def stored(folder: Path, *outcomes: Outcome) -> Store:
    store = Store(folder)
    with store.writing():
        for made in outcomes:
            store.add(made)
        store.keep_matrix(b"text", len(outcomes))
    return store


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


@table
def test_a_run_is_settled(tmp_path: Path, attempts: str, settled: bool, settled_verified: bool) -> None:
    outcomes = [outcome(10, **ENDS[end]) for end in attempts.split()]
    for store in (stored(tmp_path, *outcomes), Store(tmp_path)):
        assert (store.settled(key(10)), store.settled(key(10), verify=True)) == (settled, settled_verified)
        assert not store.settled(key(11))


def test_a_run_whose_table_is_gone_is_made_anew(tmp_path: Path) -> None:
    store = stored(tmp_path, outcome(1), outcome(2))
    next(tmp_path.rglob(f"{key(1)}.parquet")).unlink()
    assert [store.settled(key(number)) for number in (1, 2)] == [False, True]


def test_where_one_direct_run_differs_only_verified_and_real_ones_are_believed(tmp_path: Path) -> None:
    store = stored(
        tmp_path,
        *(outcome(number, verified=kind) for number, kind in ((1, None), (2, False), (3, True))),
        outcome(4, **ENDS["differs"]),
    )
    assert store.rows()["key"].to_list() == [key(number) for number in (1, 3, 4)]
    assert not [*tmp_path.rglob(f"{key(2)}.*")]
    assert Store(tmp_path).results == store.results


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


def order(key: str, image: str, samplerate_hz: int) -> Order:
    point = Point("mem_frag", "tlsf")
    return Order(key, point, None, samplerate_hz, "direct", image, "")  # type: ignore[arg-type]


def test_the_first_of_each_image_and_rate_is_made_both_ways_and_a_share_of_the_others() -> None:
    low, middle, high = ("0" * 64, f"8{'0' * 63}", "f" * 64)
    met = set[tuple[str, int]]()
    runs = [
        *((high, "a", 84), (high, "a", 84), (high, "a", 24), (high, "b", 84)),
        *((low, "a", 84), (middle, "a", 84)),
    ]
    assert [is_verified(order(*each), 0.5, met) for each in runs] == [True, False, True, True, True, False]
    assert not is_verified(order(low, "a", 84), 0.0, set())


def test_where_the_real_tools_lost_samples_nothing_is_verified(tmp_path: Path) -> None:
    real, direct = write(tmp_path / "real"), write(tmp_path / "direct")
    document = json.loads((real / "run.json").read_text(encoding="utf-8"))
    document["tool_report"]["losses"] = ["The analyzer lost a sample."]
    (real / "run.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(TailscopeError, match=r"could not be verified, .* The analyzer lost a sample"):
        difference(real, direct)
