"""The emulated desk, with stock tools: sigrok-cli's fx2lafw driver, pyOCD's ST-Link, pySerial."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from base.paths import ROOT
from base.run_folder.edges import CHANNELS
from base.run_folder.records import Boot, parse
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.desk import emulated
from capture.desk.bench import read_bench
from firmware.build import image as firmware
from scenarios import catalogue
from simulator.desk import EmulatedDesk
from simulator.run import run
from simulator.tests import bare_metal
from tests.processes import MARKER, processes_of, sigrok_is_running, wait_until

MESSAGE = b"desk\0"
TOOL_TIMEOUT_S = 240.0
RUN_TIMEOUT_S = 1_200.0
DEPTH = 8
SAMPLERATE_HZ = 24_000_000
WIDE_SAMPLERATE_HZ = 12_000_000
"""The most that sigrok takes from 16 channels."""
LEAD_IN_S = Fraction(2, 100)
"""What an analyzer sees before the board leaves reset (docs/how-to/desk.md)."""


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_metal.build(tmp_path_factory.mktemp("firmware"))


def on(desk: EmulatedDesk, *command: str) -> subprocess.CompletedProcess[bytes]:
    """Runs a program that sees the desk's devices, in a session of its own, as the bench does."""
    return subprocess.run(
        command,
        env=os.environ | desk.environment,
        capture_output=True,
        timeout=TOOL_TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def captured(desk: EmulatedDesk, samples: int, rate_hz: int = SAMPLERATE_HZ) -> tuple[bytes, str]:
    """What sigrok-cli captures, and what it says."""
    done = on(
        desk,
        *("sigrok-cli", "--driver", "fx2lafw", "--config", f"samplerate={rate_hz}"),
        *("--samples", str(samples), "--output-format", "binary"),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.decode()


def expected(elf: Path, samples: int, rate_hz: int) -> NDArray[np.uint16]:
    """What an ideal analyzer sees: the simulator's edges, put on a grid of samples here.

    The time of one state is exact. There all cycles are equally long, from before the first edge.
    """
    until = f"{samples * 1_000_000 // rate_hz}us"
    made = run(elf, image=MESSAGE, until=until, edges=True, states_at=(1, "1ms"))
    first, later = made.states
    assert made.edges is not None
    word = np.full(samples, first.channels, dtype=np.uint16)
    for cycle, channel, _ in made.edges.iter_rows():
        time_s = later.seconds + (cycle - later.cycle) / later.core_hz
        word[math.floor(time_s * rate_hz) :] ^= np.uint16(1 << CHANNELS.index(channel))
    return word


@pytest.mark.parametrize(
    ("options", "dtype", "rate_hz"),
    [
        ({"bare": True}, np.uint8, SAMPLERATE_HZ),
        ({"channels": 16}, np.uint16, WIDE_SAMPLERATE_HZ),
    ],
)
def test_a_capture_is_the_boards_own_edges(
    elf: Path, options: dict[str, Any], dtype: type[np.unsignedinteger[Any]], rate_hz: int
) -> None:
    """Also after sigrok has uploaded the firmware to a bare analyzer."""
    before, samples = int(LEAD_IN_S * rate_hz), rate_hz // 100
    with EmulatedDesk(elf, image=MESSAGE, start="capture", **options) as desk:
        data, said = captured(desk, before + samples, rate_hz)
    wire = np.frombuffer(data, dtype)
    assert len(wire) == before + samples, said
    assert not np.any(wire[:before] != wire[0])
    assert np.array_equal(wire[before:], expected(elf, samples, rate_hz))


@pytest.mark.long
def test_clips_are_swapped_shorted_and_open(elf: Path) -> None:
    """STIM toggles, SYNC is pulled up and OP is low."""
    clips = "D0=STIM,D2=open,D3=open-high,D4=SYNC+STIM,D5=OP+STIM"
    with EmulatedDesk(elf, image=MESSAGE, clips=clips) as desk:
        wire = np.frombuffer(captured(desk, 100_000)[0], np.uint8)
    stim, low, high, free, held = (wire >> bit & 1 for bit in (0, 2, 3, 4, 5))
    assert set(np.diff(np.flatnonzero(np.diff(stim)))) == {240}
    assert (low.max(), high.min(), held.max()) == (0, 1, 0)
    assert np.array_equal(free, stim)


@dataclass
class Lab:
    """Commands of ./lab with a mark of their own; what they make goes to the folder `runs`."""

    mark: str
    runs: Path

    def start(self, *before: str) -> subprocess.Popen[str]:
        """A run on a desk; `before` stands before the command."""
        command = [*before, sys.executable, "-m", "cli", "scenario", "mem_frag", "--allocator", "tlsf"]
        return subprocess.Popen(
            [
                *(*command, "--parameter", f"depth={DEPTH}", "--duration", "500ms", "--board", "desk"),
                *("--runs", str(self.runs)),
            ],
            cwd=ROOT,
            env={**os.environ, MARKER: self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *before: str) -> Path:
        """The folder of a run that is complete."""
        process = self.start(*before)
        said, complaints = process.communicate(timeout=RUN_TIMEOUT_S)
        assert process.returncode == 0, said + complaints
        return Path(said.splitlines()[-1])


def content(folder: Path) -> dict[Path, bytes]:
    """Every file of a folder, by its path there."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def marked(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(f"desk_{uuid.uuid4().hex[:12]}", tmp_path_factory.mktemp("runs"))


lab = pytest.fixture(marked)
labs = pytest.fixture(marked, scope="module")


@pytest.fixture(scope="module")
def on_desk(labs: Lab) -> Path:
    """A run as a user makes it."""
    folder = labs.run()
    assert processes_of(labs.mark) == []
    return folder


def test_the_bench_takes_the_path_of_a_real_board_there(on_desk: Path, tmp_path: Path) -> None:
    """Flashed and reset by pyOCD, captured by fx2lafw, heard at a USB port. The virtual board,
    which has none of these, gives the same records to the byte, cycles included, once it finds
    the flags of the same resets. What the wire says
    of them is held against these by the verdict of either run.
    """
    plan = catalogue.load("mem_frag", {"depth": DEPTH}).compile()
    alone = conduct.run(
        Direct(RunRequest(plan, firmware.build("tlsf"), runs=tmp_path, duration_s=0.5))
    ).folder
    manifest, other = (json.loads((run / "run.json").read_text()) for run in (on_desk, alone))
    assert (manifest["verdict"], manifest["samplerate_hz"]) == ("complete", SAMPLERATE_HZ)
    assert (manifest["counts"], manifest["probes"]) == (other["counts"], other["probes"])
    heard = (on_desk / "uart.log").read_bytes()
    boot = parse(heard).first(Boot)
    assert boot is not None and boot.reset_flags != 0x0E00_0000
    elf = firmware.build("tlsf").elf
    again = run(elf, image=plan.image, until="500ms", reset_flags=boot.reset_flags)
    assert again.uart == heard
    assert (manifest["verdict"], other["verdict"]) == ("complete", "complete")


@pytest.mark.long
def test_a_run_again_is_equal_to_the_byte_also_with_sixteen_inputs(on_desk: Path, labs: Lab) -> None:
    """From the upload of the analyzer's firmware to the verdict: edges, records and statistics."""
    with EmulatedDesk(channels=16, bare=True) as desk:
        sixteen = labs.run(*emulated.seeing(read_bench().board("desk"), desk))
    assert len(content(sixteen)) > 5
    assert content(on_desk) == content(sixteen)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_the_bench_is_stopped(lab: Lab, number: signal.Signals) -> None:
    process = lab.start()
    assert wait_until(lambda: sigrok_is_running(lab.mark) or process.poll() is not None)
    process.send_signal(number)
    process.communicate(timeout=RUN_TIMEOUT_S)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert wait_until(lambda: not processes_of(lab.mark)), processes_of(lab.mark)
