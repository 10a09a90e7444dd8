"""The reader on a PTY and on a socket, both of which the tests hold at the other end."""

from __future__ import annotations

import os
import pty
import socket
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from capture.acquisition.serial_reader import SerialReader
from capture.files.errors import CaptureError
from capture.tests.synthetic import record

PATIENCE_S = 20.0
RUN = record("BOOT,3,a,1,1,00000000,k,1,1,basepri,none") + record("END,0")


@pytest.fixture
def line() -> Iterator[tuple[int, str]]:
    """The device's end of a PTY, and the port's name."""
    device, port = pty.openpty()
    tty.setraw(port)
    yield device, os.ttyname(port)
    os.close(port)
    os.close(device)


def test_it_ends_with_the_last_record(line: tuple[int, str]) -> None:
    device, port = line
    with SerialReader(port) as reader:
        os.write(device, RUN)
        assert reader.wait(PATIENCE_S)
    assert reader.data == RUN
    assert reader.problem is None


def test_fail_ends_a_run_too(line: tuple[int, str]) -> None:
    device, port = line
    with SerialReader(port) as reader:
        os.write(device, record("FAIL,dwt,0"))
        assert reader.wait(PATIENCE_S)
    assert reader.problem is None


def test_a_record_that_arrives_in_pieces_is_waited_for(line: tuple[int, str]) -> None:
    device, port = line
    with SerialReader(port) as reader:
        os.write(device, RUN[:-1])
        assert not reader.wait(0.2)
        os.write(device, RUN[-1:])
        assert reader.wait(PATIENCE_S)
    assert reader.data == RUN


def test_silence_gets_a_sentence(line: tuple[int, str]) -> None:
    device, port = line
    with SerialReader(port, silence_s=0.2) as reader:
        os.write(device, b"@BOO")
        assert reader.wait(PATIENCE_S)
    assert reader.data == b"@BOO"
    assert reader.problem is not None and "silent for 0.2 s after 4 bytes" in reader.problem


def test_a_socket_that_closes_is_a_broken_line() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        SerialReader(f"socket://127.0.0.1:{server.getsockname()[1]}") as reader,
    ):
        connection, _ = server.accept()
        connection.sendall(b"@OP,12,A,4")
        connection.close()
        assert reader.wait(PATIENCE_S)
    assert reader.data == b"@OP,12,A,4"
    assert reader.problem is not None and "broke after 10 bytes" in reader.problem


def test_a_pty_that_goes_away_is_a_broken_line() -> None:
    device, port = pty.openpty()
    tty.setraw(port)
    with SerialReader(os.ttyname(port)) as reader:
        os.close(port)
        os.write(device, b"@OP,1")
        while len(reader.data) < 5:
            assert not reader.wait(0.01)
        os.close(device)
        assert reader.wait(PATIENCE_S)
    assert reader.data == b"@OP,1"
    assert reader.problem is not None and "broke after 5 bytes" in reader.problem


@pytest.mark.parametrize("url", ["nothing/here", "socket://127.0.0.1:1", "odd://scheme"])
def test_a_port_that_cannot_be_opened_is_named(tmp_path: Path, url: str) -> None:
    with pytest.raises(CaptureError, match="cannot be opened"):
        SerialReader(url if "://" in url else str(tmp_path / url))
