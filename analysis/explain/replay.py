"""The virtual board once more, up to the worst sample, and the proof that it did what the capture shows."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np

from analysis.explain.errors import ExplainError
from analysis.explain.worst import Worst
from capture.desk.bench import IMAGE_ADDRESS
from capture.run_folder.edges import CHANNELS, EdgeList

PINS = ("PA8", "PA9", "PA0", "PA10", "PB10", "PA1", "PB5", "PB4")
"""The pin of each of CHANNELS (docs/SPEC.md, section 1)."""

# The most that the simulator keeps of a trace.
TRACE_MOST = 1_000_000

Rows = list[tuple[int, int]]


@dataclass(frozen=True)
class State:
    """The machine at the beginning of `cycle`: registers by name and the whole SRAM."""

    cycle: int
    registers: dict[str, int]
    sram_address: int
    sram: bytes

    def word(self, address: int) -> int | None:
        """The 32-bit word at `address`, if it lies in SRAM."""
        offset = address - self.sram_address
        if not 0 <= offset <= len(self.sram) - 4:
            return None
        return int.from_bytes(self.sram[offset : offset + 4], "little")


@dataclass(frozen=True)
class Clock:
    """Cycles and samples around the worst sample, exactly: `cycle` begins `seconds` after reset."""

    cycle: int
    seconds: Fraction
    core_hz: Fraction
    samplerate_hz: int

    def sample(self, cycle: int) -> int:
        """The sample in which `cycle` begins."""
        return floor((self.seconds + (cycle - self.cycle) / self.core_hz) * self.samplerate_hz)

    def first_cycle(self, sample: int) -> int:
        """The first cycle that begins in `sample` or later."""
        return self.cycle + ceil((Fraction(sample, self.samplerate_hz) - self.seconds) * self.core_hz)


@dataclass(frozen=True)
class Replay:
    """What the virtual board did again. `trace` has the simulator's JSON lines, from `Worst.first` on."""

    clock: Clock
    heap: State
    moment: State
    trace: list[dict[str, Any]]


def replay(simulator: Path, elf: Path, image: Path, edges: EdgeList, worst: Worst) -> Replay:
    """Replays the run of `elf` and `image` to the end of the worst sample's window.

    Raises ExplainError where the board does not do what `edges` show there, to the sample.
    """
    with tempfile.TemporaryDirectory(prefix="tailscope-explain-") as scratch:
        folder = Path(scratch)
        snapshot, start = folder / "start.snapshot", folder / "start.json"
        begin_ns = worst.first * 1_000_000_000 // edges.samplerate_hz
        at = f"{begin_ns}ns"
        board = [str(elf), "--image", f"{image}@{IMAGE_ADDRESS:#010x}"]
        saved = ["--save-snapshot", f"{snapshot}@{at}", "--save-state", f"{start}@{at}"]
        _run([str(simulator), "run", *board, "--until", at, *saved])
        clock, word = _clock(start, edges.samplerate_hz)
        files = {name: folder / f"{name}.json" for name in ("heap", "moment")}
        asked = {"heap": worst.heap_at, "moment": worst.moment}
        states = [f"--save-state={files[name]}@cycles:{clock.first_cycle(asked[name])}" for name in files]
        trace, edge_file = folder / "trace.jsonl", folder / "edges.csv"
        looked = ["--trace", str(trace), "--trace-last", str(TRACE_MOST), "--edges", str(edge_file)]
        until = ["--until", f"cycles:{clock.first_cycle(worst.last)}"]
        _run([str(simulator), "run", "--from-snapshot", str(snapshot), *until, *looked, *states])
        _check(edges, clock, word, edge_file, worst.last)
        lines = [json.loads(line) for line in trace.read_text().splitlines()]
        return Replay(clock, _state(files["heap"]), _state(files["moment"]), lines)


def window(edges: EdgeList, first: int, last: int) -> Rows:
    """(sample, word) of the capture from `first` to before `last`; the first row is `first` itself."""
    at = int(np.searchsorted(edges.sample, first, side="right")) - 1
    end = int(np.searchsorted(edges.sample, last, side="left"))
    rows = [(int(edges.sample[row]), int(edges.word[row])) for row in range(at, end)]
    return [(first, rows[0][1]), *rows[1:]]


def _check(edges: EdgeList, clock: Clock, word: int, edge_file: Path, last: int) -> None:
    first = clock.sample(clock.cycle)
    replayed = _rows(edge_file, clock, word, last)
    recorded = window(edges, first, last)
    if replayed != recorded:
        both = zip(replayed, recorded, strict=False)
        at = next((mine[0] for mine, theirs in both if mine != theirs), min(replayed[-1][0], recorded[-1][0]))
        raise ExplainError(
            f"The replay differs from the capture at sample {at:,}, so it explains nothing: the simulator is "
            "another than the one of the run; run the scenario again and explain that run."
        )


def _rows(edge_file: Path, clock: Clock, word: int, last: int) -> Rows:
    """The edges as an analyzer shows them: of several within a sample the last level."""
    first = clock.sample(clock.cycle)
    words = {first: word}
    with edge_file.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["pin"] in PINS:
                bit = 1 << PINS.index(row["pin"])
                word = word | bit if row["level"] == "1" else word & ~bit
                words[clock.sample(int(row["cycle"]))] = word
    rows: Rows = []
    for sample, levels in words.items():
        if sample < last and (not rows or rows[-1][1] != levels):
            rows.append((sample, levels))
    return rows


def _clock(path: Path, samplerate_hz: int) -> tuple[Clock, int]:
    """The clock at a saved state, and the levels of the channels then."""
    saved = json.loads(path.read_text())
    clock = Clock(saved["cycle"], Fraction(*saved["seconds"]), Fraction(*saved["core_hz"]), samplerate_hz)
    return clock, saved["channels"]


def _state(path: Path) -> State:
    saved = json.loads(path.read_text())
    return State(saved["cycle"], saved["registers"], saved["sram_address"], bytes.fromhex(saved["sram"]))


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        words = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise ExplainError(f"The replay on the virtual Nucleo failed: {words}; see docs/SPEC.md, section 7.")


assert len(PINS) == len(CHANNELS)
