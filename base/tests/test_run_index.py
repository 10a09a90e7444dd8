"""The index: every run folder a row, made again only where a run.json changed."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from base import run_index
from base.run_folder.manifest import Manifest, read_manifest
from base.run_index import COLUMNS, index, latest
from dashboards.tests.synthetic import Operation, write_run
from tests.sentences import Sentences

OPERATIONS = [Operation("A", 16, 1, 300 + number) for number in range(30)]


@pytest.fixture(scope="module")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("one"), "mem_stress", "tlsf", OPERATIONS)


@pytest.fixture
def runs(one_run: Path, tmp_path: Path) -> Path:
    """A folder `runs` with that run in it."""
    shutil.copytree(one_run, tmp_path / "runs" / one_run.name)
    return tmp_path / "runs"


def copy(one_run: Path, runs: Path, name: str, **changes: object) -> Path:
    """The run's run.json alone, as another run, with other values at the top."""
    (runs / name).mkdir(parents=True)
    values = json.loads((one_run / "run.json").read_text(encoding="utf-8")) | changes
    (runs / name / "run.json").write_text(json.dumps(values), encoding="utf-8")
    return runs / name


def test_a_row_says_what_run_json_says(runs: Path) -> None:
    table = index(runs)
    assert table.schema == COLUMNS
    row = table.row(0, named=True)
    assert row["id"] == "20250102T030405Z-mem_stress-tlsf-virtual"
    assert row["time"] == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (row["state"], row["verdict"], row["problem"]) == ("finished", "complete", None)
    # 30 allocations, the longest of 329 cycles at 84 MHz.
    assert row["critical_ns_n"] == 30
    assert row["critical_ns_max"] == pytest.approx(329 * 1e9 / 84e6)
    assert row["critical_ns_budget"] == 23.9
    assert (row["free_critical_ns_n"], row["free_critical_ns_max"]) == (0, None)
    assert row["art"] is True


def test_campaigns_below_are_found_with_their_folder(one_run: Path, runs: Path) -> None:
    copy(one_run, runs / "campaign", "20250102T030405Z-mem_stress-tlsf-virtual")
    copy(one_run, runs / ".hidden", "20250102T030405Z-a-b-virtual")
    (runs / "round").symlink_to(runs)
    assert sorted(index(runs)["id"]) == [
        "20250102T030405Z-mem_stress-tlsf-virtual",
        "campaign/20250102T030405Z-mem_stress-tlsf-virtual",
    ]


def test_what_is_kept_is_read_again_only_where_it_changed(
    one_run: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(one_run, runs, "20250103T030405Z-mem_stress-tlsf-virtual")
    first = index(runs)
    parsed: list[str] = []

    def noted(path: Path) -> Manifest:
        parsed.append(path.parent.name)
        return read_manifest(path)

    monkeypatch.setattr(run_index, "read_manifest", noted)
    assert index(runs).equals(first)
    assert parsed == []
    shutil.rmtree(runs / first["id"][1])
    changed = copy(one_run, runs, first["id"][1], verdict="truncated", reasons=["It ended early."])
    table = index(runs)
    assert parsed == [changed.name]
    assert table.filter(id=changed.name)["verdict"].item() == "truncated"
    assert table.filter(id=changed.name)["reason"].item() == "It ended early."
    shutil.rmtree(changed)
    assert len(index(runs)) == 1


def test_a_damaged_run_is_a_row_with_its_sentence(one_run: Path, runs: Path, sentences: Sentences) -> None:
    values = json.loads((one_run / "run.json").read_text(encoding="utf-8"))
    copy(one_run, runs, "huge", critical_ns=values["critical_ns"] | {"max": 10**400})
    (runs / "bad").mkdir()
    (runs / "bad" / "run.json").write_bytes(b"[" * 100_000)
    for row in index(runs).filter(state="damaged").sort("id").iter_rows(named=True):
        sentences.hold(row["problem"])


def test_an_unfinished_run_says_so(runs: Path) -> None:
    folder = runs / "20250102T030406Z-mem_frag-tlsf-virtual"
    folder.mkdir()
    (folder / "operations.bin").write_bytes(b"")
    row = index(runs).filter(id=folder.name).row(0, named=True)
    assert (row["state"], row["scenario"], row["allocator"]) == ("unfinished", "mem_frag", "tlsf")
    assert "is not over yet" in row["problem"]


def test_the_latest_of_each_is_kept_whatever_its_verdict(one_run: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    copy(one_run, runs, "20250101T000000Z-a-b-virtual")
    copy(one_run, runs, "20250102T000000Z-a-b-virtual", verdict="truncated", reasons=["It ended."])
    copy(one_run, runs, "20250101T000001Z-a-b-virtual", locking="primask")
    copy(one_run, runs, "20250101T000002Z-a-b-virtual", seed=7)
    (runs / "bad").mkdir()
    (runs / "bad" / "run.json").write_text("{", encoding="utf-8")
    table = index(runs)
    assert latest(table)["id"].to_list() == [
        "20250102T000000Z-a-b-virtual",
        "20250101T000002Z-a-b-virtual",
        "20250101T000001Z-a-b-virtual",
    ]
    assert latest(latest(table)).equals(latest(table))
