"""Runs one after another, as a soak has them: what one run took is given back before the next."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from base.run_folder.folder import RunName
from base.run_folder.manifest import AskedFirmware
from capture.acquisition.account import Account, Setting
from capture.acquisition.observe import Order, observe
from capture.acquisition.tests.socket_board import SocketBoard, put_tool, samples_of
from capture.desk.bench import AnalyzerResource
from capture.store import begin_folder, keep_observation, kind_of, store_session
from capture.tests.synthetic import CORE_HZ, SyntheticRun, small_plan

RUNS, WARM = 20, 5
NAME = RunName("mem_frag", "tlsf", "nucleo")
SETTING = Setting("tlsf", "nucleo", "demo", "ab" * 32, {"python": "3.11"})
GROWTH_BYTES = 8 << 20
"""Less than half a megabyte a run: the allocators of Python and of polars keep some for later."""


@pytest.mark.long
def test_twenty_runs_leave_no_more_behind_than_five(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SyntheticRun(small_plan(depth=3))
    put_tool(tmp_path, monkeypatch, samples_of(run.edges()), "exit 0")
    taken = []
    for number in range(RUNS):
        one_run(run, tmp_path / "runs", number)
        taken.append((resident_bytes(), len(list(Path("/proc/self/fd").iterdir())), threading.active_count()))
    memory, descriptors, threads = zip(*taken[WARM - 1 :], strict=True)
    assert max(descriptors) == descriptors[0] and max(threads) == threads[0]
    assert memory[-1] - memory[0] < GROWTH_BYTES
    folders = list((tmp_path / "runs").iterdir())
    assert len(folders) == RUNS
    assert len({tuple(sorted(path.name for path in folder.iterdir())) for folder in folders}) == 1


def one_run(run: SyntheticRun, runs: Path, number: int) -> None:
    edges = run.edges()
    order = Order(
        elf=Path("fw.elf"),
        image=run.plan.image,
        analyzer=AnalyzerResource(driver="demo", samplerate_hz=CORE_HZ),
        samplerate_hz=CORE_HZ,
        duration_s=edges.total_samples / CORE_HZ,
    )
    kind = kind_of(Account(run.plan, AskedFirmware(allocator="tlsf"), SETTING))
    folder = begin_folder(runs, NAME, datetime(2026, 2, 3, 4, 5, number, tzinfo=UTC), kind)
    with SocketBoard(run.uart()) as board:
        seen = observe(board, order, board.progress, folder.path)
    keep_observation(folder, kind, seen)
    notes = store_session(folder, seen.edges)
    assert kind.conclude(folder, seen, lambda: notes).verdict == "complete"


def resident_bytes() -> int:
    match = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match
    return int(match[1]) << 10
