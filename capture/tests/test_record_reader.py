"""Readers of records: a board that never stops, and a PTY that the tests hold at the other end."""

from __future__ import annotations

import os
import pty
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import serial

from base.files.errors import CaptureError
from capture.acquisition import record_reader
from capture.acquisition.record_reader import RecordReader, SerialReader
from capture.tests.synthetic import record
from tests.processes import wait_until


class Babble(RecordReader):
    """A board that says the same for ever."""

    def _receive(self) -> bytes:
        return b"x" * 300

    def _release(self) -> None:
        pass

    def _broken(self, error: Exception) -> str:
        return str(error)


def test_a_board_that_never_stops_talking_is_heard_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_reader, "MOST_LOG_BYTES", 1000)
    with Babble("babble") as reader:
        assert reader.wait(PATIENCE_S)
    assert reader.data == b"x" * 1000
    assert reader.problem is not None
    assert "more than 1,000 bytes without END" in reader.problem


class Teller(Babble):
    """A board whose `lines` come one by one; before each, `look` is called."""

    def __init__(self, log: Path, lines: list[bytes], look: Callable[[], object]) -> None:
        super().__init__("teller", log)
        self._lines = list(lines)
        self._look = look

    def _receive(self) -> bytes:
        self._look()
        return self._lines.pop(0)


LINES = [b"@BOOT,5*0000\n", b"@OP,0*0000\n", b"@END,1*0000\n"]


def test_what_was_heard_is_on_the_disk_before_more_is_listened_for(tmp_path: Path) -> None:
    log = tmp_path / "uart.log"
    seen: list[bytes] = []
    with Teller(log, LINES, lambda: seen.append(log.read_bytes())) as reader:
        assert reader.wait(PATIENCE_S)
    assert seen == [b"", LINES[0], LINES[0] + LINES[1]]
    assert log.read_bytes() == reader.data == b"".join(LINES)


PATIENCE_S = 600.0
RUN = record("BOOT,7,a,1,1,00000000,k,1,1,basepri,none,bypass,04000000,nucleo-f401re") + record("END,0")


def opened_pty() -> Iterator[tuple[int, str]]:
    """The device's end of a PTY, and the port's name."""
    device, port = pty.openpty()
    tty.setraw(port)
    yield device, os.ttyname(port)
    os.close(port)
    os.close(device)


line = pytest.fixture(opened_pty, name="line")


def test_it_ends_with_the_last_record(line: tuple[int, str]) -> None:
    device, port = line
    with SerialReader(port) as reader:
        os.write(device, RUN)
        assert reader.wait(PATIENCE_S)
    assert reader.data == RUN
    assert reader.problem is None


elsewhere = pytest.fixture(opened_pty, name="elsewhere")
"""A second line, as which a port comes back."""


def absent_at_first(port: str) -> Callable[[], str]:
    """Finds a port at the fourth look."""
    looks = iter(range(3))

    def find() -> str:
        if next(looks, None) is not None:
            raise CaptureError("No serial port belongs to a USB device; check the cable.")
        return port

    return find


def follow(line: tuple[int, str], elsewhere: tuple[int, str], before: bytes, after: bytes) -> SerialReader:
    """A reader, at its end, of a line that breaks after `before` and comes back with `after`."""
    with (
        pytest.MonkeyPatch.context() as patched,
        SerialReader(line[1], find=absent_at_first(elsewhere[1])) as reader,
    ):
        os.write(line[0], before)
        assert wait_until(lambda: len(reader.data) == len(before))
        hang_up(reader, patched)
        assert wait_until(lambda: reader._port.port == elsewhere[1])
        os.write(elsewhere[0], after)  # opening a port drops what came before
        assert reader.wait(PATIENCE_S)
    return reader


def hang_up(reader: SerialReader, monkeypatch: pytest.MonkeyPatch) -> None:
    """The port breaks once what came is read, as pySerial has it of a device that is gone."""
    port = reader._port
    read = port.read

    def last(size: int) -> bytes:
        data = bytes(read(size))
        if not data:
            raise serial.SerialException("device disconnected")
        return data

    monkeypatch.setattr(port, "read", last)


def test_a_port_that_comes_back_before_the_board_spoke_loses_nothing(
    line: tuple[int, str], elsewhere: tuple[int, str]
) -> None:
    reader = follow(line, elsewhere, b"", RUN)
    assert (reader.data, reader.problem) == (RUN, None)


def test_a_port_that_comes_back_later_is_read_on_and_told_of(
    line: tuple[int, str], elsewhere: tuple[int, str]
) -> None:
    reader = follow(line, elsewhere, RUN[:20], RUN[30:])
    assert reader.data == RUN[:20] + RUN[30:]
    assert reader.problem is not None
    assert reader.problem.startswith(f"The serial line {line[1]} broke after 20 bytes (device disconnected)")
    assert f"came back as {elsewhere[1]}; what the board said meanwhile is lost" in reader.problem


@pytest.mark.parametrize("url", ["nothing/here", "socket://127.0.0.1:1", "odd://scheme"])
def test_a_port_that_cannot_be_opened_is_named(tmp_path: Path, url: str) -> None:
    with pytest.raises(CaptureError, match="cannot be opened"):
        SerialReader(url if "://" in url else str(tmp_path / url))
