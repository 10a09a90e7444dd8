"""`./lab pulseview`, against a stand-in and, where it is installed, against PulseView itself."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from analysis.compare.tests.made import FIRMWARE, write
from base.files.errors import TailscopeError
from base.paths import ROOT
from base.run_folder.edges import read_parquet
from base.run_folder.kept import write_kept
from base.run_folder.session_file import write_sr
from capture.acquisition.keeper import Keeper, Keeping
from capture.reading.tests.waveform import Waveform
from capture.tests.synthetic import SyntheticRun
from capture.tests.test_redecode import store
from cli.work import pulseview
from decoders.pulseview import Marked, setup
from scenarios import catalogue


def folder_with_session(folder: Path) -> Path:
    """A section of 100 samples, and a stimulus that is answered behind it."""
    wave = Waveform(2000)
    wave.pulse("OP", 190, 320)
    wave.pulse("CRIT", 200, 300)
    wave.toggle("STIM", 210)
    wave.pulse("ISR", 310, 315)
    write_sr(folder / "capture.sr", wave.edges())
    return folder


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a program called pulseview, a shell script, first on the path."""

    def put(script: str) -> None:
        program = tmp_path / "bin" / "pulseview"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        monkeypatch.setenv("DISPLAY", ":0")

    return put


def test_pulseview_gets_the_session_its_setup_and_the_decoders(
    tmp_path: Path, stand_in: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    stand_in('echo "$@" "$SIGROKDECODE_DIR"; exit 3')
    folder = folder_with_session(tmp_path)
    assert pulseview.run(folder) == 3
    assert capfd.readouterr().out == f"--dont-scan --clean {folder}/capture.sr {ROOT}/decoders\n"
    assert (folder / "capture.pvs").read_text(encoding="utf-8") == setup()


def test_the_decoders_get_the_clock_of_the_runs_board(
    tmp_path: Path, stand_in: Callable[[str], None]
) -> None:
    stand_in("exit 0")
    fields = {"allocator": "seglist", "board": "nucleo-f446re", "core_hz": 180_000_000}
    firmware = {**FIRMWARE, "core_hz": None}
    folder = write(tmp_path / "runs", changes={"asked": fields, "firmware": firmware})
    write_sr(folder / "capture.sr", Waveform(2000).edges())
    assert pulseview.run(folder) == 0
    assert (folder / "capture.pvs").read_text(encoding="utf-8") == setup(core_hz=180_000_000)


def test_the_worst_sample_is_between_the_cursors(
    tmp_path: Path, stand_in: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    """They lie on an edge of either channel, as far apart as run.json says."""
    stand_in("exit 0")
    plan = catalogue.load("mem_stress", {"operations": 40}).compile()
    folder = store(SyntheticRun(plan), tmp_path).folder
    maxima = json.loads((folder / "run.json").read_text(encoding="utf-8"))["maxima"]
    edges = read_parquet(folder / "edges.parquet")
    for quantity, statistic, channels in (
        ("allocate", "critical_ns", ("CRIT", "CRIT")),
        ("free", "free_critical_ns", ("CRIT", "CRIT")),
        ("interrupt", "interrupt_latency_ns", ("STIM", "ISR")),
        ("task", "task_latency_ns", ("STIM", "TASK")),
    ):
        assert pulseview.run(folder, quantity) == 0
        match = re.search(r"from ([0-9.]+) s to ([0-9.]+) s", capfd.readouterr().err)
        assert match
        begin_s, end_s = float(match[1]), float(match[2])
        assert (end_s - begin_s) * 1e9 == pytest.approx(maxima[statistic]["value"], abs=2)
        places = [round(time_s * edges.samplerate_hz) for time_s in (begin_s, end_s)]
        for place, channel in zip(places, channels, strict=True):
            assert place in edges.transitions(channel).sample
        exact = [Fraction(place, edges.samplerate_hz) for place in places]
        assert (folder / "capture.pvs").read_text(encoding="utf-8") == setup(Marked(*exact))


def test_a_window_that_was_kept_is_opened_between_cursors(
    tmp_path: Path, stand_in: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    stand_in("echo $3")
    wave = Waveform(9000, 1_000_000)
    wave.pulse("CRIT", 2000, 2100)
    wave.pulse("CRIT", 5000, 5300)
    edges = wave.edges()
    keeper = Keeper(tmp_path, edges.samplerate_hz, edges.channels, 9000, Keeping(2, 50))
    keeper.append(edges.sample, edges.word, edges.total_samples)
    keeper.close()
    write_kept(tmp_path / "kept.parquet", keeper.kept)
    with pytest.raises(TailscopeError, match=r"windows/CRIT-1\.sr does not exist; \./lab redecode"):
        pulseview.run(tmp_path)
    for window in keeper.kept.windows:
        write_sr(tmp_path / "windows" / f"{window.place.name}.sr", window.edges)
    assert pulseview.run(tmp_path) == pulseview.run(tmp_path, window="CRIT-2") == 0
    said = capfd.readouterr()
    assert said.out.splitlines() == [str(tmp_path / "windows" / f"CRIT-{n}.sr") for n in (1, 2)]
    assert "CRIT-1, 0.000300000 s long, begins at 0.005000000 s" in said.err
    marked = Marked(Fraction(50, 1_000_000), Fraction(350, 1_000_000))
    assert (tmp_path / "windows" / "CRIT-1.pvs").read_text(encoding="utf-8") == setup(marked)
    with pytest.raises(TailscopeError, match="has no window OP-1; it has CRIT-1, CRIT-2, end"):
        pulseview.run(tmp_path, window="OP-1")


def test_a_capture_that_is_whole_has_no_windows(tmp_path: Path) -> None:
    with pytest.raises(TailscopeError, match="has no windows: all of its capture was kept"):
        pulseview.run(folder_with_session(tmp_path), window="CRIT-1")


def test_without_pulseview_the_sentence_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(TailscopeError, match=r"pulseview is not installed; .*apt-get install pulseview"):
        pulseview.run(folder_with_session(tmp_path))


def test_without_a_display_nothing_is_started(
    tmp_path: Path, stand_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("exit 0")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(TailscopeError, match="DISPLAY is not set"):
        pulseview.run(folder_with_session(tmp_path))


def test_a_folder_without_a_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TailscopeError, match=r"capture\.sr does not exist; name a run folder"):
        pulseview.run(tmp_path)


@contextmanager
def display(folder: Path) -> Iterator[str]:
    """A display of Xvfb's own choice, that nobody sees."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-nolisten", "tcp", "-screen", "0", "1000x800x24"]
    with (folder / "Xvfb.log").open("wb") as log:
        server = subprocess.Popen(command, pass_fds=(write,), stderr=log)
    os.close(write)
    try:
        with os.fdopen(read) as file:
            yield f":{file.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)


def text_with(path: Path, words: str, within_s: float = 60) -> str:
    """What the file says, once it says `words`."""
    until_s = time.monotonic() + within_s
    while words not in (text := path.read_text(encoding="utf-8", errors="replace")):
        assert time.monotonic() < until_s, f"no {words!r} in:\n{text[-2000:]}"
        time.sleep(0.1)
    return text


@pytest.mark.long
@pytest.mark.skipif(
    not (shutil.which("pulseview") and shutil.which("Xvfb")), reason="pulseview or Xvfb is not installed"
)
def test_pulseview_itself_opens_a_run_and_decodes_it(tmp_path: Path, stand_in: Callable[[str], None]) -> None:
    """It tells what it does, since a stand-in before it on the path asks it to."""
    stand_in(f'exec {shutil.which("pulseview")} -l 5 "$@"')
    folder = folder_with_session(tmp_path)
    log = tmp_path / "said"
    command = [sys.executable, "-m", "cli", "pulseview", str(folder)]
    with display(tmp_path) as number, log.open("wb") as output:
        environment = {**os.environ, "HOME": str(tmp_path), "DISPLAY": number}
        opened = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, env=environment)
        try:
            for decoder in ("critical_section", "irq_latency"):
                text_with(log, "handled all samples (abs cur 2000 / abs end 2000)")
                text = text_with(log, f"samples, 2000 bytes, unitsize = 1), instance {decoder}-1")
            assert "Could not restore" not in text
        finally:
            opened.send_signal(signal.SIGTERM)
            status = opened.wait(20)
    assert status == 0, "PulseView closes in order when it is asked to end"
