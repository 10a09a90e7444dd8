"""The serial line: every byte of a run, read in the background until the firmware has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import serial

from base.files.errors import CaptureError, first_line
from capture.acquisition.record_reader import RecordReader
from scenarios.operations import DEFAULT_BAUD

READ_BYTES = 65_536

# A board's port that went away is back by then, if it comes back: a kernel needs about a second.
_BACK_WITHIN_S = 3.0
_BACK_POLL_S = 0.05


class SerialReader(RecordReader):
    """Reads the records from `url`: a port, a PTY, or socket://…

    A port that goes away is followed where `find` finds it again, perhaps under another name. If
    the board had spoken already, `problem` says that something is lost. A board that first speaks
    while there is no port shows in its records: BOOT is missing.
    """

    def __init__(
        self,
        url: str,
        log: Path | None = None,
        find: Callable[[], str] | None = None,
        baud: int = DEFAULT_BAUD,
    ) -> None:
        super().__init__(f"serial {url}", log)
        self._url = url
        self._find = find
        self._baud = baud
        self._port = _open(url, baud)

    def _receive(self) -> bytes:
        """Does not block: pySerial's blocking read drops what it has when the line breaks."""
        try:
            return bytes(self._port.read(READ_BYTES))
        except (serial.SerialException, OSError) as error:
            self._follow(error)
            return b""

    def _follow(self, error: Exception) -> None:
        """Opens the port that is there instead of the one that broke. Raises `error` if none is."""
        with suppress(Exception):  # whatever pySerial raises of a port that is gone
            self._port.close()
        port, gone = self._found_again(), self._url
        if port is None:
            raise error
        self._port, self._url = port, str(port.port)
        if self._data:
            self.problem = (
                f"The serial line {gone} broke after {len(self._data)} bytes ({first_line(error)}) and "
                f"came back as {self._url}; what the board said meanwhile is lost: check the cable, then "
                "run again."
            )

    def _found_again(self) -> serial.SerialBase | None:
        deadline_s = time.monotonic() + _BACK_WITHIN_S
        while self._find is not None and time.monotonic() < deadline_s:
            with suppress(CaptureError):
                return _open(self._find(), self._baud)
            if self._stopping.wait(_BACK_POLL_S):
                break
        return None

    def _release(self) -> None:
        self._port.close()

    def _broken(self, error: Exception) -> str:
        return (
            f"The serial line {self._url} broke after {len(self._data)} bytes ({first_line(error)}); "
            "check the cable and the board's power, then run again."
        )


def _open(url: str, baud: int) -> serial.SerialBase:
    try:
        return serial.serial_for_url(url, baudrate=baud, timeout=0)
    except (serial.SerialException, OSError, ValueError) as error:
        raise CaptureError(
            f"The serial line {url} cannot be opened ({first_line(error)}); check the port in bench.toml."
        ) from None
