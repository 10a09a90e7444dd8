import json
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from capture.files.errors import CaptureError
from capture.joining.evidence import ToolReport, weigh
from capture.redecode import redecode
from capture.run_folder.edges import EdgeList
from capture.run_folder.folder import RunFolder
from capture.store import RunResult, keep_findings, keep_observation
from capture.summary.summary import Setting
from capture.tests.synthetic import CORE_HZ, SyntheticRun, record, small_plan

TIME = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
SETTING = Setting("tlsf", "nucleo", "fx2lafw", "ab" * 32, {"python": "3.11"}, ("mind the gap",))


def store(run: SyntheticRun, runs: Path, image: bytes | None = None, **report: Any) -> RunResult:
    edges = run.edges()
    folder = RunFolder.create(runs, TIME, run.plan.name, "tlsf", "nucleo")
    keep_observation(folder, image or run.plan.image, edges, run.uart())
    evidence = weigh(run.plan, ToolReport(edges.total_samples, **report), edges, run.uart())
    return keep_findings(folder, evidence, SETTING)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=3))


@pytest.mark.parametrize("report", [{}, {"interrupted": True}, {"losses": ("Gone.",), "oddities": ("Hm.",)}])
def test_the_same_is_found_again(run: SyntheticRun, tmp_path: Path, report: dict[str, Any]) -> None:
    stored = store(run, tmp_path, **report)
    before = contents(stored.folder)
    assert redecode(stored.folder) == stored
    assert contents(stored.folder) == before


def test_a_changed_observation_changes_the_verdict(run: SyntheticRun, tmp_path: Path) -> None:
    stored = store(run, tmp_path)
    assert stored.verdict == "complete"
    log = stored.folder / "uart.log"
    log.write_bytes(log.read_bytes().replace(b"@OP,5,", b"@OP,6,", 1))
    assert redecode(stored.folder).verdict == "truncated"


def test_lock_and_knobs_are_those_that_the_firmware_told(run: SyntheticRun, tmp_path: Path) -> None:
    stored = store(run, tmp_path)
    log = stored.folder / "uart.log"
    first, rest = log.read_bytes().split(b"\n", 1)
    told = json.loads((stored.folder / "run.json").read_text())
    assert (told["locking"], told["knobs"], told["turned_knobs"]) == ("basepri", {}, {})
    fields = first.decode("ascii").removeprefix("@").rpartition("*")[0].split(",")
    changed = [*fields[:2], "tlsf", *fields[3:-2], "scheduler", "TLSF_OCTAVES=14/TLSF_SLOTS=8"]
    log.write_bytes(record(",".join(changed)) + rest)
    assert redecode(stored.folder).verdict == "complete"
    told = json.loads((stored.folder / "run.json").read_text())
    assert told["locking"] == "scheduler"
    assert told["knobs"] == {"TLSF_OCTAVES": "14", "TLSF_SLOTS": "8"}
    assert told["turned_knobs"] == {"TLSF_SLOTS": "8"}


def test_without_run_json_it_is_an_interrupted_run(run: SyntheticRun, tmp_path: Path) -> None:
    stored = store(run, tmp_path)
    (stored.folder / "run.json").unlink()
    result = redecode(stored.folder)
    assert result.verdict == "truncated"
    found = json.loads((stored.folder / "run.json").read_text())
    assert (found["allocator"], found["board"]) == ("tlsf", "nucleo")
    assert found["counts"]["operations"] == run.plan.operations.height


def test_an_image_that_cannot_be_compiled_again_still_tells_its_operations(
    run: SyntheticRun, tmp_path: Path
) -> None:
    """The name in the header is one that no scenario has."""
    image = run.plan.image[:32] + b"unheard_of".ljust(32, b"\0") + run.plan.image[64:]
    assert zlib.crc32(image[64:]) == run.plan.image_crc32
    stored = store(run, tmp_path, image)
    assert redecode(stored.folder).verdict == "complete"
    table = pl.read_parquet(stored.folder / "operations.parquet")
    for column in ("seq", "size", "measured"):
        assert table[column].to_list() == run.plan.operations[column].to_list()
    assert table["label"][0] == "mark 0"
    assert table["depth"].null_count() == table.height


def edit_manifest(folder: Path, **changes: Any) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": 2}, "not of schema 1"),
        ({"asked_samples": "many"}, "lacks a usable 'asked_samples'"),
        ({"tool_report": None}, "lacks a usable 'tool_report'"),
    ],
)
def test_a_strange_manifest_is_refused(
    run: SyntheticRun, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    stored = store(run, tmp_path)
    edit_manifest(stored.folder, **changes)
    with pytest.raises(CaptureError, match=words):
        redecode(stored.folder)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_manifest_that_is_no_json_is_refused(run: SyntheticRun, tmp_path: Path, content: bytes) -> None:
    stored = store(run, tmp_path)
    (stored.folder / "run.json").write_bytes(content)
    with pytest.raises(CaptureError, match="not JSON"):
        redecode(stored.folder)


@pytest.mark.parametrize("name", ["edges.parquet", "uart.log", "operations.bin"])
def test_a_missing_observation_is_named(run: SyntheticRun, tmp_path: Path, name: str) -> None:
    stored = store(run, tmp_path)
    (stored.folder / name).unlink()
    with pytest.raises(CaptureError, match=name):
        redecode(stored.folder)


def test_a_damaged_image_is_named(run: SyntheticRun, tmp_path: Path) -> None:
    stored = store(run, tmp_path)
    (stored.folder / "operations.bin").write_bytes(b"TSOP")
    with pytest.raises(CaptureError, match=r"operations\.bin is damaged"):
        redecode(stored.folder)


def test_an_empty_capture_is_stored_too(run: SyntheticRun, tmp_path: Path) -> None:
    nothing = EdgeList(np.empty(0, np.int64), np.empty(0, np.uint8), CORE_HZ, 0)
    folder = RunFolder.create(tmp_path, TIME, run.plan.name, "tlsf", "nucleo")
    keep_observation(folder, run.plan.image, nothing, b"")
    stored = keep_findings(folder, weigh(run.plan, ToolReport(1000), nothing, b""), SETTING)
    assert stored.verdict == "truncated"
    assert redecode(folder.path) == stored
