import errno
import json
import os
import re
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import polars as pl
import pytest

from base.files.errors import CaptureError, RunError, TailscopeError
from base.files.whole import WriteError
from base.run_folder.edge_stream import EdgeWriter
from base.run_folder.edges import EdgeList, read_parquet
from base.run_folder.folder import EDGE_STREAM, RunName
from base.run_folder.manifest import AskedFirmware, MemoryFigures, ToolReport
from base.run_folder.tables import MEMORY_COLUMNS, Memory
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, Setting
from capture.conduct import (
    Kind,
    RunResult,
    begin_folder,
    keep_observation,
    kind_of,
    redecode,
    store_session,
)
from capture.tests.synthetic import CORE_HZ, SyntheticRun, small_plan
from scenarios.generator import Step
from scenarios.operations import Allocate, Free
from scenarios.plan import Plan, compile_steps
from scenarios.stimulus import Stimulus

TIME = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
SETTING = Setting("tlsf", "nucleo", "fx2lafw", "ab" * 32, {"python": "3.11"})
NAME = RunName("mem_frag", "tlsf", "nucleo")
ASKED = AskedFirmware(allocator="tlsf")


def store(run: SyntheticRun, runs: Path, setting: Setting = SETTING, **report: tuple[str, ...]) -> RunResult:
    kind, seen = kind_of(Account(**vars(setting), plan=run.plan, asked=ASKED)), observation_of(run, **report)
    folder = begin_folder(runs, RunName(run.plan.name, "tlsf", "nucleo"), TIME, kind)
    keep_observation(folder, kind, seen)
    store_session(folder, seen.edges)
    return kind.conclude(folder, seen)


def observation_of(run: SyntheticRun, **report: tuple[str, ...]) -> Observation:
    edges = run.edges()
    return Observation(
        edges, run.uart(), ToolReport.model_validate({"asked_samples": edges.total_samples, **report})
    )


def kind_in(run: SyntheticRun) -> Kind:
    return kind_of(Account(**vars(SETTING), plan=run.plan, asked=ASKED))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=3))


def test_the_same_is_found_again_of_what_the_tools_said(run: SyntheticRun, tmp_path: Path) -> None:
    stored = store(run, tmp_path, losses=("Gone.",), oddities=("Hm.",))
    before = contents(stored.folder)
    assert redecode(stored.folder) == stored
    assert contents(stored.folder) == before


def test_where_the_blocks_lay_is_kept(run: SyntheticRun, tmp_path: Path) -> None:
    """No record tells it, and the replay that did is not made again."""
    seq = pl.Series("seq", range(1, run.plan.operations.height), dtype=pl.UInt32)
    columns = pl.DataFrame({"seq": seq, **dict.fromkeys(MEMORY_COLUMNS.names(), seq * 8)})
    figures = MemoryFigures(peak_live_bytes=80, used_bytes=100, fragmentation_percent=25.0, sbbm_bytes=9)
    stored = store(run, tmp_path, replace(SETTING, memory=Memory(figures, columns)))
    before = contents(stored.folder)
    assert json.loads(before["run.json"])["memory"]["used_bytes"] == 100
    table = pl.read_parquet(stored.folder / "operations.parquet")
    assert table["block_end"].to_list()[:3] == [None, 8, 16]
    assert redecode(stored.folder) == stored
    assert contents(stored.folder) == before


def test_a_whole_run_whose_run_json_was_never_written_is_in_doubt(run: SyntheticRun, tmp_path: Path) -> None:
    """Nothing is seen to be missing; but what the tools
    said is not known, so it is not complete either.
    """
    stored = store(run, tmp_path)
    (stored.folder / "run.json").unlink()
    result = redecode(stored.folder)
    assert result.verdict == "inconclusive"
    assert len(result.reasons) == 1 and "was killed before it wrote run.json" in result.reasons[0]
    assert redecode(stored.folder) == result
    document = json.loads((stored.folder / "run.json").read_text())
    assert (document["allocator"], document["board"]) == ("tlsf", "nucleo")
    assert document["counts"]["operations"] == run.plan.operations.height


def test_what_cannot_be_written_to_runs_is_kept_elsewhere(
    run: SyntheticRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up between the check before the capture and the writing after it."""
    write, runs = EdgeList.write_parquet, tmp_path / "runs"
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))

    def full_in_runs(edges: EdgeList, path: Path) -> None:
        if path.is_relative_to(runs):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(edges, path)

    monkeypatch.setattr(EdgeList, "write_parquet", full_in_runs)
    folder = begin_folder(runs, NAME, TIME, kind_in(run))
    with pytest.raises(WriteError, match=r"the disk is full.* What was captured is kept in ") as refused:
        keep_observation(folder, kind_in(run), observation_of(run))
    (kept,) = (tmp_path / "tmp").glob("tailscope-kept-*/*")
    assert str(kept) in str(refused.value)
    assert list(runs.iterdir()) == [], "no half of a run is left"
    assert redecode(kept).verdict == "inconclusive"


def stream(folder: Path, edges: EdgeList, asked_samples: int) -> None:
    with EdgeWriter(folder / EDGE_STREAM, edges.samplerate_hz, edges.channels, asked_samples) as writer:
        writer.append(edges.sample, edges.word, edges.total_samples)


def unfinished(run: SyntheticRun, runs: Path, serial_bytes: bytes = b"") -> Path:
    """The folder of a run whose capture has begun."""
    folder = begin_folder(runs, NAME, TIME, kind_in(run))
    (folder / "uart.log").write_bytes(serial_bytes)
    return folder


def test_a_run_that_was_killed_while_it_was_captured_is_judged(run: SyntheticRun, tmp_path: Path) -> None:
    """What reached the disk is joined; a second time gives the same."""
    cut = run.truths[10].start
    folder = unfinished(run, tmp_path, run.uart()[: run.uart().index(b"@OP,12,")])
    stream(folder, run.edges().until(cut), run.edges().total_samples)
    result = redecode(folder)
    assert result.verdict == "truncated"
    assert result.reasons[0].startswith("The run was interrupted")
    assert pl.read_parquet(folder / "operations.parquet")["seq"].to_list() == list(range(10))
    assert read_parquet(folder / "edges.parquet") == run.edges().until(cut)
    assert not (folder / EDGE_STREAM).exists()
    before = contents(folder)
    assert json.loads(before["run.json"])["tool_report"]["interrupted"]
    assert redecode(folder) == result
    assert contents(folder) == before


def test_a_run_that_is_still_captured_is_not_judged(run: SyntheticRun, tmp_path: Path) -> None:
    folder, edges = unfinished(run, tmp_path), run.edges()
    with EdgeWriter(folder / EDGE_STREAM, CORE_HZ, edges.channels, edges.total_samples) as writer:
        writer.append(edges.sample, edges.word, edges.total_samples)
        with pytest.raises(CaptureError, match="still being captured; wait"):
            redecode(folder)
    assert not (folder / "run.json").exists()


def own_scenario() -> Plan:
    """A ramp with labels of its own, whose name no catalogue has."""
    steps = [Step(Allocate(0, 64), "begin")]
    for depth in range(1, 4):
        for trial in range(1, 3):
            steps.append(Step(Allocate(1, 32, measured=True), f"round {depth}", trial, depth))
            steps.append(Step(Free(1, measured=True), f"round {depth}", trial, depth))
    return compile_steps("my_own", {"rounds": 3}, Stimulus("periodic", 5_003, 7_919), steps)


def test_a_scenario_of_the_users_own_is_found_again(tmp_path: Path) -> None:
    """What the image does not carry (labels, trials, depths, the ramp) is stored with the run."""
    run = SyntheticRun(own_scenario())
    stored = store(run, tmp_path)
    before = contents(stored.folder)
    document = json.loads(before["run.json"])
    assert (document["verdict"], document["ramp"], document["intervals"]["of"]) == ("complete", True, {})
    assert redecode(stored.folder) == stored
    assert contents(stored.folder) == before
    table = pl.read_parquet(stored.folder / "operations.parquet")
    assert table["label"].unique(maintain_order=True).to_list() == ["begin", "round 1", "round 2", "round 3"]
    assert table["depth"].drop_nulls().to_list() == [1] * 4 + [2] * 4 + [3] * 4


ALTERED = r"is not the file that run\.json was written of; restore it, or run the scenario again\.$"


@pytest.mark.parametrize("name", ["uart.log", "plan.parquet"])
def test_an_observation_that_is_not_the_runs_own_is_refused(
    run: SyntheticRun, tmp_path: Path, name: str
) -> None:
    stored = store(run, tmp_path)
    other = store(SyntheticRun(own_scenario()), tmp_path)
    (stored.folder / name).write_bytes((other.folder / name).read_bytes())
    with pytest.raises(RunError, match=rf"{re.escape(name)}: {ALTERED}"):
        redecode(stored.folder)


def test_a_lost_edge_list_is_made_up_for_by_the_session(run: SyntheticRun, tmp_path: Path) -> None:
    stored = store(run, tmp_path)
    before = (stored.folder / "run.json").read_bytes()
    (stored.folder / "edges.parquet").write_bytes(b"PAR1")
    assert redecode(stored.folder) == stored
    assert (stored.folder / "run.json").read_bytes() == before


OBSERVED = ("run.json", "uart.log", "operations.bin", "plan.parquet", "edges.parquet", "counts.csv")


@pytest.mark.parametrize(
    ("name", "kind"), [*zip(OBSERVED, cycle(["pipe", "device", "folder", "sparse"]), strict=False)]
)
def test_what_is_no_file_or_too_long_is_refused_at_once(
    run: SyntheticRun, tmp_path: Path, name: str, kind: str
) -> None:
    folder = store(run, tmp_path).folder
    if name == "edges.parquet":  # else the copy for PulseView serves, which is no better here
        (folder / "capture.sr").unlink()
    path = folder / name
    path.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case _:
            path.touch()
            os.truncate(path, 1 << 40)
    with pytest.raises(TailscopeError, match=name):
        redecode(folder)
