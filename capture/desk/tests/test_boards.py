"""Both boards against stand-ins for the tools behind them: what they ask, and what they say of a failure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from capture.desk.bench import AnalyzerResource, BoardResource, LoaderResource, read_bench
from capture.desk.boards import open_board
from capture.desk.debug_probe import ProbeAddress
from capture.desk.nucleo_board import NucleoBoard
from capture.desk.virtual_board import VirtualBoard
from capture.files.errors import CaptureError
from simulator import build as simulator

ANALYZER = AnalyzerResource("beaglelogic", 84_000_000)
FIRMWARE, IMAGE = Path("fw.elf"), Path("ops.bin")


def virtual(binary: Path, port: str = "pty") -> VirtualBoard:
    return VirtualBoard(BoardResource("virtual", LoaderResource("virtual-nucleo"), port, ANALYZER), binary)


def stand_in(folder: Path, body: str) -> Path:
    """A program that plays virtual-nucleo."""
    path = folder / "virtual-nucleo"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_kind_of_loader_decides() -> None:
    bench = read_bench()
    assert isinstance(open_board(bench.board("virtual")), VirtualBoard)
    assert isinstance(open_board(bench.board("nucleo")), NucleoBoard)


@pytest.mark.parametrize(("port", "uart"), [("pty", "pty"), ("tcp", "tcp:0")])
def test_the_simulator_is_asked_as_specified(tmp_path: Path, port: str, uart: str) -> None:
    line = json.dumps({"analyzer": "127.0.0.1:41001", "uart": "/dev/pts/3"})
    binary = stand_in(tmp_path, f"echo \"$@\" > {tmp_path}/asked\necho '{line}'\nexec cat")
    with virtual(binary, port) as board:
        board.prepare(FIRMWARE, IMAGE)
        assert board.analyzer_connection() == "tcp-raw/127.0.0.1/41001:logic_channels=8"
        assert board.serial_url() == "/dev/pts/3"
        assert board.problems() == board.oddities() == ()
    asked = (tmp_path / "asked").read_text().split()
    assert asked == [
        *("serve", "fw.elf", "--image", "ops.bin@0x08040000"),
        *("--analyzer", "0", "--uart", uart),
    ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo 'fw.elf is no ELF file' >&2; exit 1", "does not start: fw.elf is no ELF file"),
        ("echo nonsense; exec cat", "does not start: nonsense"),
        ("exit 0", "does not start: it says nothing"),
        ("echo '[1, 2]'; exec cat", "does not start"),
    ],
)
def test_a_simulator_that_does_not_listen(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(CaptureError, match=words), virtual(stand_in(tmp_path, body)) as board:
        board.prepare(FIRMWARE, IMAGE)


def test_a_simulator_that_stops_on_the_way(tmp_path: Path) -> None:
    body = 'echo \'{"analyzer": "a:1", "uart": "b"}\'; echo \'TIM2_SMCR at 0x40000008\' >&2; exit 3'
    with virtual(stand_in(tmp_path, body)) as board:
        board.prepare(FIRMWARE, IMAGE)
        assert board._process is not None
        board._process.wait()
        (problem,) = board.problems()
        assert "status 3: TIM2_SMCR at 0x40000008" in problem
        assert board.oddities() == ()


def test_a_simulator_that_ignores_its_closed_input_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capture.desk.virtual_board.CLOSING_TIMEOUT_S", 0.2)
    body = 'echo hm >&2; echo \'{"analyzer": "a:1", "uart": "b"}\'; exec sleep 600'
    with virtual(stand_in(tmp_path, body)) as board:
        board.prepare(FIRMWARE, IMAGE)
        process = board._process
        assert board.oddities() == ("The virtual Nucleo said: hm.",)
    assert process is not None and process.poll() == -9


def test_a_missing_simulator_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="does not start"), virtual(tmp_path / "nothing") as board:
        board.prepare(FIRMWARE, IMAGE)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo 'cargo 1.84.9 (x)'", "1.84.9 .* too old .*1.85"),
        ("echo unheard of", "does not tell its version"),
        ("[ $1 = --version ] && echo 'cargo 1.85.0' || { echo 'error: no luck' >&2; exit 101; }", "no luck"),
    ],
)
def test_a_cargo_that_cannot_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str
) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text(f"#!/bin/sh\n{body}\n")
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(simulator.BuildError, match=words):
        simulator.build()


def test_a_missing_cargo_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(simulator.BuildError, match=r"cargo is missing.*apt-get install"):
        simulator.build()


FAKE_PYOCD = """
import json, os, sys
with open(os.environ["ASKED"], "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == os.environ.get("FAILS"):
    sys.exit("0000280 E No target device available [load_cmd]")
"""


@pytest.fixture
def pyocd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pyOCD that writes down what it is asked; returns where."""
    (tmp_path / "pyocd").mkdir()
    (tmp_path / "pyocd" / "__init__.py").touch()
    (tmp_path / "pyocd" / "__main__.py").write_text(FAKE_PYOCD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    return tmp_path / "asked"


def nucleo(probe: str = "") -> NucleoBoard:
    loader = LoaderResource("pyocd", "stm32f401retx", probe)
    return NucleoBoard(BoardResource("nucleo", loader, "/dev/ttyACM0", ANALYZER))


def test_a_probe_is_asked_for_where_records_come_by_rtt(tmp_path: Path) -> None:
    line = json.dumps({"analyzer": "a:1", "uart": "b", "probe": "127.0.0.1:41003"})
    binary = stand_in(tmp_path, f"echo \"$@\" > {tmp_path}/asked\necho '{line}'\nexec cat")
    resource = BoardResource("virtual", LoaderResource("virtual-nucleo"), "pty", ANALYZER)
    with VirtualBoard(resource, binary, probed=True) as board:
        board.prepare(FIRMWARE, IMAGE)
        assert board.probe_address() == ProbeAddress("remote:127.0.0.1:41003", "stm32f401retx")
        assert (tmp_path / "asked").read_text().split()[-2:] == ["--probe", "0"]
        assert "pyocd" in board.tools()


def test_the_nucleo_is_reset_by_the_debugger_that_has_its_probe(pyocd: Path) -> None:
    pulls: list[str] = []
    with nucleo("0667FF") as board:
        assert board.probe_address() == ProbeAddress("0667FF", "stm32f401retx")
        board.start(lambda: pulls.append("pulled"))
    assert pulls == ["pulled"]
    assert not pyocd.exists()


def test_a_reset_that_fails_gets_its_sentence() -> None:
    def broken() -> None:
        raise OSError("no device")

    with nucleo() as board, pytest.raises(CaptureError, match=r"cannot reset the board: no device; check"):
        board.start(broken)


def test_the_nucleo_is_loaded_halted_and_started_by_its_reset_pin(pyocd: Path) -> None:
    with nucleo("0667FF") as board:
        board.prepare(FIRMWARE, IMAGE)
        board.start()
    asked = [json.loads(line) for line in pyocd.read_text().splitlines()]
    assert [call[0] for call in asked] == ["load", "load", "reset"]
    for call in asked:
        assert call[call.index("--target") + 1] == "stm32f401retx"
        assert call[call.index("--uid") + 1] == "0667FF"
    for load in asked[:2]:
        assert "--no-reset" in load and "resume_on_disconnect=false" in load
    assert asked[0][-1] == "fw.elf"
    assert asked[1][-3:] == ["--base-address", "0x08040000", "ops.bin"]
    assert asked[2][-2:] == ["--method", "hw"]


def test_a_pyocd_that_fails_gets_a_sentence(pyocd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", "load")
    with (
        pytest.raises(CaptureError, match="pyOCD cannot load the board: No target device available;"),
        nucleo() as board,
    ):
        board.prepare(FIRMWARE, IMAGE)
    assert len(pyocd.read_text().splitlines()) == 1


@pytest.mark.parametrize("subcommand", ["load", "reset"])
def test_pyocd_knows_every_option_that_is_used(subcommand: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pyocd", subcommand, "--help"], capture_output=True, text=True
    )
    options = ["--no-wait", "--quiet", "--script", "--target", "--uid"]
    options += (
        ["--connect", "--no-reset", "--format", "--base-address"] if subcommand == "load" else ["--method"]
    )
    for option in options:
        assert option in done.stdout
