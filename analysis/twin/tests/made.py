"""Run folders of boards that never were: what the virtual board did, changed in a known way."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from base.run_folder.edges import CHANNELS, EdgeList, settled
from base.run_folder.folder import RunName
from base.run_folder.manifest import ToolReport
from base.run_folder.records import encode
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, asked_of, longest_s
from capture.conduct import begin_folder, keep_observation, kind_of
from firmware.build import image as firmware
from firmware.build.placement import Placement, placed
from scenarios.plan import Plan
from simulator import run as simulator
from simulator.outputs import State

CORE_HZ = 84_000_000
# So finely is the wire known before an analyzer samples it.
_FINE_HZ = 100 * CORE_HZ


def made_run(
    runs: Path,
    plan: Plan,
    *,
    allocator: str = "seglist",
    samplerate_hz: int = CORE_HZ,
    flash_acr: int | None = None,
    ppm: float = 0.0,
    image: bytes | None = None,
    shift: int = 0,
    records: Callable[[bytes], bytes] = lambda content: content,
) -> Path:
    """The folder of a run of a board whose flash does what `flash_acr` says, whose analyzer's clock
    runs `ppm` fast, whose code lies `shift` bytes further on than the digest says, and which ran
    `image` instead of the plan's. `records` changes what came by the serial line.
    """
    built = firmware.build(allocator)
    until = f"{round(longest_s(plan, built.configuration.board.core_hz) * 1e9)}ns"
    done = simulator.run(
        placed(built, Placement(shift, shift)).elf,
        image=image or plan.image,
        until=until,
        flash_acr=flash_acr,
        edges=True,
        states_at=[until],
    )
    seen = _sampled(_edge_list(done.edges, done.states[0], _FINE_HZ), samplerate_hz, ppm)
    serial = records(done.uart)
    kind = kind_of(Account(allocator, "made", "none", built.sha256, plan=plan, asked=asked_of(built)))
    name = RunName(plan.name, allocator, "made")
    folder = begin_folder(runs, name, datetime(2026, 1, 1, tzinfo=UTC), kind)
    observation = Observation(seen, serial, ToolReport(asked_samples=seen.total_samples))
    keep_observation(folder, kind, observation)
    return kind.conclude(folder, observation).folder


def with_cycles(more: Callable[[int, int], int]) -> Callable[[bytes], bytes]:
    """Changes OP records: both counts of cycles grow by what `more` gives of seq and probes."""

    def changed(serial: bytes) -> bytes:
        return b"".join(map(line, serial.splitlines(keepends=True)))

    def line(text: bytes) -> bytes:
        match = re.fullmatch(rb"@(OP,.*)\*[0-9A-F]{4}\n", text)
        if match is None:
            return text
        fields = match[1].decode().split(",")
        added = more(int(fields[1]), int(fields[6]))
        fields[4:6] = [str(int(field) + added) for field in fields[4:6]]
        return encode(",".join(fields))

    return changed


def _edge_list(edges: pl.DataFrame, end: State, samplerate_hz: int) -> EdgeList:
    """What an analyzer of `samplerate_hz` would have captured up to `end`.

    `edges` has the columns of simulator.outputs.read_edges(). Edges from before the core had its
    last clock are placed by that clock, too: nothing is measured there.
    """
    base = end.seconds * samplerate_hz
    step = Fraction(samplerate_hz) / end.core_hz
    common = base.denominator * step.denominator
    first = base.numerator * step.denominator
    each = step.numerator * base.denominator
    sample = np.array(
        [(first + (cycle - end.cycle) * each) // common for cycle in edges["cycle"].to_list()],
        dtype=np.int64,
    )
    bit = edges["channel"].replace_strict({name: 1 << n for n, name in enumerate(CHANNELS)}).to_numpy()
    # The word before the first edge: a channel that falls first was high.
    falling = edges.group_by("channel").first().filter(~pl.col("level"))["channel"]
    before = sum(1 << CHANNELS.index(name) for name in falling)
    word = np.bitwise_xor.accumulate(np.concatenate([[before], bit])).astype(np.uint8)
    rows = settled(np.concatenate([[0], sample]), word)
    return EdgeList(*rows, samplerate_hz, int(base) + 1)


def _sampled(fine: EdgeList, samplerate_hz: int, ppm: float) -> EdgeList:
    """What an analyzer of this rate, whose clock runs `ppm` fast, takes of a fine capture."""
    factor = samplerate_hz * (1 + ppm * 1e-6) / fine.samplerate_hz
    sample = np.floor(fine.sample * factor).astype(np.int64)
    last = np.append(sample[1:] != sample[:-1], True)
    sample, word = sample[last], fine.word[last]
    sample[0] = 0
    changed = np.append(True, word[1:] != word[:-1])
    return EdgeList(sample[changed], word[changed], samplerate_hz, int(fine.total_samples * factor) + 1)
