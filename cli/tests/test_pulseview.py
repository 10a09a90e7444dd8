"""`./lab pulseview`, against a stand-in and, where it is installed, against PulseView itself."""

import json
import os
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from base.files.errors import TailscopeError
from base.paths import ROOT
from base.run_folder.edges import read_parquet
from base.run_folder.kept import write_kept
from base.run_folder.session_file import write_sr
from capture.acquisition.keeper import Keeper, Keeping
from capture.tests.synthetic import SyntheticRun
from capture.tests.test_redecode import store
from capture.tests.waveform import Waveform
from cli import pulseview
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
    assert pulseview.show(folder) == 3
    assert capfd.readouterr().out == f"--dont-scan --clean {folder}/capture.sr {ROOT}/decoders\n"
    assert (folder / "capture.pvs").read_text(encoding="utf-8") == setup()


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
        assert pulseview.show(folder, quantity) == 0
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
        pulseview.show(tmp_path)
    for window in keeper.kept.windows:
        write_sr(tmp_path / "windows" / f"{window.place.name}.sr", window.edges)
    assert pulseview.show(tmp_path) == pulseview.show(tmp_path, window="CRIT-2") == 0
    said = capfd.readouterr()
    assert said.out.splitlines() == [str(tmp_path / "windows" / f"CRIT-{n}.sr") for n in (1, 2)]
    assert "CRIT-1, 0.000300000 s long, begins at 0.005000000 s" in said.err
    marked = Marked(Fraction(50, 1_000_000), Fraction(350, 1_000_000))
    assert (tmp_path / "windows" / "CRIT-1.pvs").read_text(encoding="utf-8") == setup(marked)
    with pytest.raises(TailscopeError, match="has no window OP-1; it has CRIT-1, CRIT-2, end"):
        pulseview.show(tmp_path, window="OP-1")
