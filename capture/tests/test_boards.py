"""Both boards against stand-ins for the tools behind them:
what they ask, and what they say of a failure.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import AnalyzerResource, BoardResource, LoaderResource
from capture.desk.board import Connections, ProbeAddress
from capture.desk.open_board import NucleoBoard, VirtualBoard
from simulator.tests.stand_in import asked, listening

ANALYZER = AnalyzerResource(driver="beaglelogic", samplerate_hz=84_000_000)
VIRTUAL = BoardResource("virtual", LoaderResource(kind="virtual-nucleo"), "tcp", ANALYZER)
FIRMWARE, IMAGE = Path("fw.elf"), b"operations"


def test_the_virtual_board_tells_where_it_is_heard(tmp_path: Path) -> None:
    with VirtualBoard(VIRTUAL, listening(tmp_path)) as board:
        assert board.load(FIRMWARE, IMAGE) == Connections(
            serial_url="/dev/pts/3", analyzer="tcp-raw/127.0.0.1/41001:logic_channels=8", probe=None
        )
        assert board.problems() == board.oddities() == ()
        assert not board.ended()
    assert asked(tmp_path)[2:7] == ["--strict", "--uart", "tcp:0", "--start", "get"]


def test_only_the_virtual_board_is_a_counter(tmp_path: Path) -> None:
    assert NucleoBoard(VIRTUAL).counts() is None
    program = listening(tmp_path, before='echo counted > "$(echo "$@" | sed "s/.*--windows //; s/ .*//")"')
    with VirtualBoard(VIRTUAL, program, looks=(0x0800_0100, 0x0800_0200)) as board:
        board.load(FIRMWARE, IMAGE)
        assert board.counts() == b"counted\n"
    words = " ".join(asked(tmp_path))
    assert "--count=look0=0x8000100 --count=look1=0x8000200 --count-window OP" in words
    assert asked(tmp_path)[-2:] == ["--instructions-while", "CRIT"]


def test_a_simulator_that_stops_on_the_way(tmp_path: Path) -> None:
    program = listening(tmp_path, then="echo 'TIM2_SMCR at 0x40000008' >&2; exit 3")
    with VirtualBoard(VIRTUAL, program) as board:
        board.load(FIRMWARE, IMAGE)
        while not board.ended():
            time.sleep(0.01)
        (problem,) = board.problems()
        assert "status 3: TIM2_SMCR at 0x40000008" in problem
        assert board.oddities() == ()


class Counted:
    """A debugger that counts its resets."""

    resets = 0

    def reset(self) -> None:
        self.resets += 1


FAKE_PYOCD = """
import json, os, shutil, sys
if "@" in sys.argv[-1]:
    shutil.copy(sys.argv[-1].partition("@")[0], os.environ["ASKED"].replace("asked", "flashed"))
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
    monkeypatch.chdir(tmp_path)
    FIRMWARE.touch()
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    return tmp_path / "asked"


def nucleo(probe: str = "") -> NucleoBoard:
    loader = LoaderResource(kind="pyocd", target="stm32f401retx", probe=probe)
    return NucleoBoard(BoardResource("nucleo", loader, "/dev/ttyACM0", ANALYZER))


def test_the_nucleo_is_reset_by_the_debugger_that_has_its_probe(pyocd: Path) -> None:
    debugger = Counted()
    with nucleo("0667FF") as board:
        board.resetter(debugger).reset()
    assert debugger.resets == 1
    assert not pyocd.exists()


def test_the_nucleo_is_loaded_halted_and_started_by_its_reset_pin(pyocd: Path) -> None:
    with nucleo("0667FF") as board:
        connections = board.load(FIRMWARE, IMAGE)
        board.resetter(None).reset()
    assert connections == Connections("/dev/ttyACM0", None, ProbeAddress("0667FF", "stm32f401retx"))
    requests = [json.loads(line) for line in pyocd.read_text().splitlines()]
    load, reset = requests
    assert (load[0], reset[0]) == ("load", "reset")
    for call in requests:
        assert call[call.index("--target") + 1] == "stm32f401retx"
        assert call[call.index("--uid") + 1] == "0667FF"
    assert "--no-reset" in load and "resume_on_disconnect=false" in load
    assert Path(load[-2]).name == "firmware.elf"
    assert load[-1].rpartition("@")[2] == "0x08040000"
    assert (pyocd.parent / "flashed").read_bytes() == IMAGE
    assert reset[-2:] == ["--method", "hw"]


def test_a_pyocd_that_fails_gets_a_sentence(pyocd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", "load")
    with (
        pytest.raises(CaptureError, match="pyOCD cannot load the board: No target device available;"),
        nucleo() as board,
    ):
        board.load(FIRMWARE, IMAGE)
    first, second = (json.loads(line) for line in pyocd.read_text().splitlines())
    assert "halt" in first and "under-reset" in second
