"""The folder of a campaign: nothing is lost, nothing is believed that is not whole."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.campaign import journal
from analysis.campaign.journal import MOST_ATTEMPTS, Recognized
from analysis.campaign.rows import COLUMNS, OLD_NAMES, STATISTICS
from analysis.campaign.store import JOURNAL, RUNS, Store
from analysis.campaign.tests.made import outcome
from analysis.campaign.work import Outcome
from analysis.errors import CampaignError
from base.files.errors import RunError
from base.metrology.quantiles import summarise
from base.run_folder.quantities import QUANTITIES
from base.run_folder.tables import INTERRUPTS, OPERATIONS, write_table

_UP = "../../../../"


def test_the_table_does_not_tell_in_which_order_the_runs_came(tmp_path: Path) -> None:
    runs = [outcome("aa", critical_ns_max=2.0), outcome("bb"), outcome("cc", table=b"others")]
    written = set()
    for number, order in enumerate(permutations(runs)):
        store = Store(tmp_path / str(number))
        with store.writing():
            for one in order:
                store.add(one)
        written.add(store.write_runs().read_bytes())
    assert len(written) == 1
    assert pl.read_parquet(tmp_path / "0" / RUNS)["key"].to_list() == ["aa", "bb", "cc"]


def test_a_command_that_is_killed_leaves_what_it_added(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        store = Store(tmp_path)
        with store.writing():
            store.add(outcome("aa"))
            store.add(outcome("bb"), outcome("cc"))
            store.note(b"not kept yet", Recognized("dd", (), b""))
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    again = Store(tmp_path)
    assert [again.settled(key) for key in ("aa", "bb", "cc", "dd")] == [True, True, True, False]
    with again.writing():
        again.add(outcome("dd"))
    assert Store(tmp_path).stored == 4
    assert not [*tmp_path.glob(f"{JOURNAL}-*")]


def test_a_campaign_of_before_is_read_by_the_names_that_its_columns_had(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "critical_ns_max": 2.0,
        "critical_ns_budget": 0.5,
        "critical_ns_key": "7",
        "task_latency_ns_key": "@9",
    }
    store = Store(tmp_path)
    with store.writing():
        store.add(outcome("aa", **row))
    with closing(sqlite3.connect(tmp_path / JOURNAL)) as connection:
        for name, old in OLD_NAMES.items():
            connection.execute(f'ALTER TABLE runs RENAME COLUMN "{name}" TO "{old}"')
        connection.execute('ALTER TABLE runs ADD COLUMN "allocate_max_ns" REAL')
        connection.execute('ALTER TABLE runs DROP COLUMN "board_folder"')
        connection.commit()
    assert row.items() <= Store(tmp_path).rows().collect().row(0, named=True).items()
    with store.writing():
        store.add(outcome("bb"))
    first, second = Store(tmp_path).rows().collect().iter_rows(named=True)
    assert row.items() <= first.items()
    assert first["board_folder"] == "nucleo-f401re"  # there was no other board
    assert second["critical_ns_budget"] is None


@pytest.mark.parametrize("content", [b'{"row": 1}\n' * 99, b"SQLite format 3\0" + bytes(500)])
def test_a_damaged_journal_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_bytes(content)
    store = Store(tmp_path)
    with pytest.raises(CampaignError, match=rf"{JOURNAL} is no journal of a campaign: .*\."):
        store.settled("aa")
    with pytest.raises(CampaignError, match="no journal"), store.writing():
        pass


def test_what_a_wish_came_to_is_kept_with_the_next_outcome(tmp_path: Path) -> None:
    store, found = Store(tmp_path), Recognized("aa", ("kernel_calls", "urgent_task"), b"image")
    with store.writing():
        store.note(b"wish", found)
        assert store.recognized(b"wish") is None
        store.add(outcome("aa"))
        assert store.recognized(b"wish") == found
        store.note(b"other", found)
    assert Store(tmp_path).recognized(b"other") == found


def test_runs_are_read_a_few_at_a_time_and_written_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(*(outcome(f"{n:03}", art=bool(n % 2), critical_ns_max=n / 3) for n in range(100)))
    rows = store.rows().collect()
    assert rows.schema == COLUMNS
    assert rows["critical_ns_max"].to_list() == [n / 3 for n in range(100)]
    whole = store.write_runs().read_bytes()
    monkeypatch.setattr(journal, "AT_ONCE", 7)
    assert store.write_runs().read_bytes() == whole
    write_table(tmp_path / "at-once.parquet", rows)
    assert (tmp_path / "at-once.parquet").read_bytes() == whole
    some = store.rows().filter(pl.col("art")).select("key").head(2).collect()
    assert some["key"].to_list() == ["001", "003"]


def test_what_is_not_complete_is_tried_a_bounded_number_of_times(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        for attempt in range(MOST_ATTEMPTS):
            assert not store.settled("aa")
            store.add(outcome("aa", "inconclusive", reason=f"attempt {attempt}"))
    assert Store(tmp_path).settled("aa")
    assert Store(tmp_path).rows().collect()["reason"].to_list() == [f"attempt {MOST_ATTEMPTS - 1}"]


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


def test_tables_that_are_gone_or_altered_are_noticed_and_cleaned(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(*(outcome(key) for key in ("aa", "bb", "cc")))
    assert store.gone() == 0
    next(tmp_path.rglob("aa.parquet")).unlink()
    next(tmp_path.rglob("bb.parquet")).write_bytes(b"Rows")
    assert store.gone() == 1
    with store.writing():
        assert store.clean() == 2
    again = Store(tmp_path)
    assert again.gone() == 0
    assert [again.settled(key) for key in ("aa", "bb", "cc")] == [False, False, True]
    assert [path.stem for path in tmp_path.rglob("*.parquet")] == ["cc"]


@pytest.mark.parametrize("column", ["key", "allocator"])
def test_a_journal_from_elsewhere_reaches_no_file_beside_the_folder(column: str, tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    other.write_bytes(b"of somebody else")
    folder = tmp_path / "campaign"
    store = Store(folder)
    with store.writing():
        store.add(outcome("aa"))
    with closing(sqlite3.connect(folder / JOURNAL)) as connection, connection:
        words = f"UPDATE runs SET state = 'failed', verdict = NULL, {column} = ?"
        connection.execute(words, (_UP + "other",))
    store = Store(folder)
    with pytest.raises(CampaignError, match="nobody can have made"), store.writing():
        store.clean()
    assert other.read_bytes() == b"of somebody else"


def test_clean_forgets_nothing_while_a_table_cannot_be_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(outcome("aa"))
    table = next(tmp_path.rglob("aa.parquet"))
    table.unlink()
    table.mkdir()
    with store.writing(), pytest.raises(CampaignError, match=r"cannot be read: .*nothing was forgotten"):
        store.clean()
    assert Store(tmp_path).settled("aa")


def test_garbage_within_a_journal_is_one_sentence(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(outcome("aa"))
    journal_file = tmp_path / JOURNAL
    content = journal_file.read_bytes()
    assert b"CREATE TABLE" in content
    journal_file.write_bytes(content.replace(b"CREATE TABLE", b"CREATE \xe6\xffABL"))
    with pytest.raises(CampaignError, match=r"no journal of a campaign: .*remove the whole folder"):
        Store(tmp_path).settled("aa")
    with pytest.raises(CampaignError, match="no journal"):
        Store(tmp_path).rows().collect()


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


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    with (
        pytest.raises(CampaignError, match="not empty, and no folder of a campaign"),
        Store(tmp_path).writing(),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_another_folder_is_no_campaigns(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="no folder of a campaign"):
        Store.existing(tmp_path)


def _parquet(table: pl.DataFrame) -> bytes:
    held = io.BytesIO()
    write_table(held, table)
    return held.getvalue()


def _measured(key: str, critical_ns: list[float]) -> Outcome:
    """What a run of allocations left, with the figures of its tables."""
    operations = pl.DataFrame(
        {name: [None] * len(critical_ns) for name in OPERATIONS}, schema=OPERATIONS
    ).with_columns(kind=pl.lit("A"), measured=True, wire_critical_ns=pl.Series(critical_ns))
    tables = {"operations": _parquet(operations), "interrupts": _parquet(pl.DataFrame(schema=INTERRUPTS))}
    figures = {
        f"{quantity.key}_{name}": getattr(found, name)
        for quantity in QUANTITIES
        for found in [
            summarise(
                quantity.samples(operations, pl.DataFrame(schema=INTERRUPTS))[quantity.column].to_numpy()
            )
        ]
        for name in STATISTICS
    }
    digests = {what: hashlib.sha256(content).hexdigest() for what, content in tables.items()}
    row = outcome(key, **figures).row
    return Outcome(key, row, tables, digests)


def _change(folder: Path, words: str) -> None:
    with closing(sqlite3.connect(folder / JOURNAL)) as connection:
        assert connection.execute(words).rowcount == 1
        connection.commit()


CHANGES = {
    "a figure": "critical_ns_max = 1.0",
    "a figure that was not": "critical_ns_max = NULL",
    "one as text": "critical_ns_max = 'x'",
    "a verdict": "verdict = 'complete'",
    "an allocator": "allocator = 'seglist'",
    "the tables": "sha256 = '{}'",
    "the seal": "row_sha256 = NULL",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_row_that_was_changed_is_found_and_its_run_made_anew(tmp_path: Path, change: str) -> None:
    store = Store(tmp_path)
    bad = outcome("bb", verdict="truncated", critical_ns_max=7.5, operations=3, art=True)
    with store.writing():
        store.add(_measured("aa", [3.0, 5.0]), bad)
    Store(tmp_path).check_rows()
    key = "bb" if change == "a verdict" else "aa"
    _change(tmp_path, f"UPDATE runs SET {CHANGES[change]} WHERE key = '{key}'")
    with pytest.raises(CampaignError, match=rf"1 row was changed since .* the first that of {key}, so no"):
        Store(tmp_path).write_runs()
    assert not (tmp_path / RUNS).exists()
    again = Store(tmp_path)
    with again.writing():
        assert again.clean() == (1 if key == "bb" else 2)  # bb is not complete, and forgotten anyhow
    assert Store(tmp_path).attempts(key) == 0
    Store(tmp_path).write_runs()


def test_a_row_of_other_figures_than_its_tables_is_forgotten(tmp_path: Path) -> None:
    """Whoever changes a row can make its digest anew; the tables still tell."""
    store = Store(tmp_path)
    true, false = _measured("aa", [3.0, 5.0]), _measured("bb", [3.0, 5.0])
    with store.writing():
        store.add(true, replace(false, row={**false.row, "critical_ns_max": 1.0}))
    Store(tmp_path).check_rows()
    again = Store(tmp_path)
    with again.writing():
        assert again.clean() == 1
    assert Store(tmp_path).rows().collect()["key"].to_list() == ["aa"]


def test_a_journal_without_digests_of_its_rows_gets_them(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writing():
        store.add(_measured("aa", [3.0, 5.0]))
    with closing(sqlite3.connect(tmp_path / JOURNAL)) as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN row_sha256")
        connection.commit()
    Store(tmp_path).check_rows()
    with Store(tmp_path).writing():
        pass
    Store(tmp_path).check_rows()
    _change(tmp_path, "UPDATE runs SET critical_ns_max = 1.0")
    with pytest.raises(CampaignError, match="1 row was changed"):
        Store(tmp_path).check_rows()


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "campaign", tmp_path / "outside"
    outside.mkdir()
    with Store(folder).writing():
        pass
    (folder / "operations").symlink_to(outside)
    with pytest.raises(RunError, match="operations: is a symbolic link"), Store(folder).writing():
        pass
    with pytest.raises(RunError, match="operations: is a symbolic link"):
        Store.existing(folder)
    assert not [*outside.iterdir()]
