"""The process of a served board: its command line, and the sentences if it misbehaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator import process
from simulator.build import SimulatorError
from simulator.serve import Served
from simulator.tests.stand_in import asked, listening, stand_in

FIRMWARE = Path("fw.elf")


@pytest.mark.parametrize(("uart", "option"), [("pty", "pty"), ("tcp", "tcp:0")])
def test_the_program_is_asked_as_specified(tmp_path: Path, uart: str, option: str) -> None:
    with Served(FIRMWARE, uart=uart, program=listening(tmp_path)) as board:
        assert (board.analyzer, board.uart, board.probe) == ("127.0.0.1:41001", "/dev/pts/3", "")
        assert (board.status(), board.words()) == (None, "")
    assert asked(tmp_path) == ["serve", "fw.elf", "--strict", "--uart", option, "--start", "get"]


def test_an_image_is_placed_where_the_firmware_looks_for_it(tmp_path: Path) -> None:
    copy = f"cp \"$(echo \"$@\" | sed 's/.*--image //; s/@.*//')\" '{tmp_path}/placed'"
    with Served(FIRMWARE, image=b"operations", program=listening(tmp_path, before=copy)):
        assert (tmp_path / "placed").read_bytes() == b"operations"
    assert asked(tmp_path)[-1].endswith("@0x08040000")


def test_a_probe_and_a_start_at_once_are_asked_for(tmp_path: Path) -> None:
    with Served(FIRMWARE, probe=True, start="now", program=listening(tmp_path)) as board:
        assert board.probe == "127.0.0.1:41003"
    assert asked(tmp_path)[-4:] == ["--start", "now", "--probe", "0"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo 'fw.elf is no ELF file' >&2; exit 1", "does not start: fw.elf is no ELF file"),
        ("echo nonsense; exec cat", "does not start: nonsense"),
        ("exit 0", "does not start: it says nothing"),
        ("echo '[1, 2]'; exec cat", "does not start"),
    ],
)
def test_a_program_that_does_not_listen(tmp_path: Path, body: str, words: str) -> None:
    board = Served(FIRMWARE, program=stand_in(tmp_path, body))
    with pytest.raises(SimulatorError, match=words), board:
        pass
    assert board.process.poll() is not None, "it is not left behind"


def test_a_program_that_is_silent_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LISTENING_TIMEOUT_S", 0.2)
    with (
        pytest.raises(SimulatorError, match=r"did not listen within 0\.2 s"),
        Served(FIRMWARE, program=stand_in(tmp_path, "exec cat")),
    ):
        pass


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match="does not start"), Served(FIRMWARE, program=tmp_path / "none"):
        pass


def test_a_program_that_ignores_its_closed_input_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CLOSING_TIMEOUT_S", 0.2)
    with Served(FIRMWARE, program=listening(tmp_path, then="exec sleep 600")) as board:
        assert board.status() is None
    assert board.status() == -9
