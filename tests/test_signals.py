"""A signal at any moment of a command: what was recorded is
kept, one sentence, its status, nothing left.

The moments are random and seeded, one in each of equal parts
of the command's time. TAILSCOPE_SIGNALS=100 tries a hundred of
them, and says what came.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from base.paths import ROOT
from firmware.build import image as firmware
from simulator import build as simulator
from tests.processes import MARKER, processes_of, wait_until

RUN_WITHIN_S = 600.0
"""Only a command that hangs takes so long, on whatever machine."""
TRIES = int(os.environ.get("TAILSCOPE_SIGNALS", "3"))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NAMES = {signal.SIGINT: "(Ctrl-C|SIGINT)", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
WHOLE = {
    *("run.json", "edges.parquet", "capture.sr", "operations.parquet", "plan.parquet"),
    *("interrupts.parquet", "operations.bin", "uart.log"),
}
pytestmark = pytest.mark.usefixtures("interruptible")


@dataclass
class Bench:
    """`./lab scenario` in a process group of its own, with
    folders and a scenario of its own.
    """

    folder: Path
    mark: str
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def runs(self) -> list[Path]:
        """The folders of its runs."""
        return sorted((self.folder / "runs").glob(f"*{self.mark}*"))

    def start(self, *words: str) -> subprocess.Popen[str]:
        self.temporary.mkdir(exist_ok=True)
        scenario = self.folder / f"{self.mark}.toml"
        text = (ROOT / "scenarios" / "mem_frag.toml").read_text(encoding="utf-8")
        scenario.write_text(text.replace("mem_frag", self.mark, 1), encoding="utf-8")
        process = subprocess.Popen(
            [
                ROOT / "lab",
                "scenario",
                scenario,
                "--allocator",
                "tlsf",
                "--runs",
                self.folder / "runs",
                *words,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, MARKER: self.mark, "TMPDIR": str(self.temporary)},
        )
        self.started.append(process)
        return process

    def left(self) -> list[str]:
        """Processes and temporary files that outlive the command."""
        return [*processes_of(self.mark), *(path.name for path in self.temporary.iterdir())]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, f"signals_{uuid.uuid4().hex[:12]}")
    yield bench
    for process in bench.started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def faults(
    bench: Bench, number: signal.Signals, status: int, complaints: str, before: set[Path]
) -> list[str]:
    """What is not as it should be after a command that `number` stopped."""
    problems = []
    if status != 128 + number:
        problems.append(f"status {status}")
    sentences = re.findall(r"[Ss]topped by \S+", complaints)
    if len(sentences) != 1 or not re.search(f"[Ss]topped by {NAMES[number]}", complaints):
        problems.append(f"{len(sentences)} sentences: {complaints[-300:]}")
    if "Traceback" in complaints or "Exception" in complaints:
        problems.append(complaints)
    new = [folder for folder in bench.runs if folder not in before]
    for folder in new:
        lacking = WHOLE - {path.name for path in folder.iterdir()}
        if lacking:
            problems.append(f"lacking {lacking}")
        elif json.loads((folder / "run.json").read_text())["verdict"] not in ("truncated", "complete"):
            problems.append("verdict")
        if f"kept in {folder}." not in complaints.replace("\n", ""):
            problems.append("the sentence does not name the folder")
    if len(new) > 1 or (not new and "is kept" in complaints):
        problems.append(f"{len(new)} folders")
    if left := bench.left():
        problems.append(f"left: {left}")
    return problems


def is_whole(bench: Bench, printed: str, complaints: str, before: set[Path]) -> bool:
    """Whether a command ended as if no signal had come. None is heard once the exit status is
    decided: then all is stored and printed, and the process is about to be gone.
    """
    new = set(bench.runs) - before
    return (
        len(new) == 1
        and all(str(folder) in printed.replace("\n", "") for folder in new)
        and all(json.loads((folder / "run.json").read_text())["verdict"] == "complete" for folder in new)
        and "topped" not in complaints
        and not bench.left()
    )


def test_a_signal_at_a_random_moment(bench: Bench) -> None:
    words = ("--parameter", "depth=8")
    simulator.build()
    firmware.build("tlsf")
    began_s = time.monotonic()
    whole = bench.start(*words)
    _, complaints = whole.communicate(timeout=RUN_WITHIN_S)
    assert whole.returncode == 0, complaints
    lasts_s = time.monotonic() - began_s
    draw = random.Random(1)
    outcomes: Counter[str] = Counter()
    wrong = []
    for part in range(TRIES):
        number = draw.choice(SIGNALS)
        at_s = max(0.02, draw.uniform(part, part + 1) / TRIES * lasts_s)
        again_s = draw.choice((None, draw.uniform(0, 0.05)))
        before = set(bench.runs)
        process = bench.start(*words)
        time.sleep(at_s)
        if process.poll() is not None:
            outcomes["came after the end"] += 1
            process.communicate()
            continue
        os.killpg(process.pid, number)
        if again_s is not None:
            time.sleep(again_s)
            if process.poll() is None:
                os.killpg(process.pid, number)
        printed, complaints = process.communicate(timeout=RUN_WITHIN_S)
        if not process.returncode and is_whole(bench, printed, complaints, before):
            outcomes["came after the status was decided"] += 1
            continue
        outcomes["a run is kept" if set(bench.runs) - before else "no run was recorded"] += 1
        complaint = faults(bench, number, process.returncode, complaints, before)
        if complaint:
            wrong.append((number.name, round(at_s, 3), again_s, complaint))
    print(f"{TRIES} signals over {lasts_s:.2f} s: {dict(outcomes)}, wrong: {len(wrong)}")
    assert not wrong, wrong


def test_a_bench_that_is_killed_leaves_a_run_that_can_be_judged(bench: Bench) -> None:
    """Nobody can tell it to stop: its tools end by themselves, and what was on the disk stays."""
    process = bench.start("--parameter", "trials=40")
    assert wait_until(lambda: any(stream.stat().st_size > 5_000 for stream in streams(bench)))
    process.kill()
    process.communicate()
    assert wait_until(lambda: not processes_of(bench.mark)), processes_of(bench.mark)
    (folder,) = bench.runs
    assert {path.name for path in folder.iterdir()} == {
        *("operations.bin", "plan.parquet", "edges.stream", "uart.log", "progress.json"),
    }
    judged = subprocess.run(
        [ROOT / "lab", "redecode", folder], capture_output=True, text=True, check=False, timeout=RUN_WITHIN_S
    )
    assert judged.stdout.startswith("truncated: The run was interrupted"), judged
    document = json.loads((folder / "run.json").read_text())
    assert document["verdict"] == "truncated" and document["counts"]["operations"] > 0
    assert document["tool_report"]["interrupted"] is True
    assert {path.name for path in folder.iterdir()} >= WHOLE
    assert not (folder / "progress.json").exists()


def streams(bench: Bench) -> list[Path]:
    return [path for folder in bench.runs for path in folder.glob("edges.stream")]
