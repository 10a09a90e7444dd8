"""The serial line: every byte of a run, read in the background until the firmware has ended."""

from __future__ import annotations

from pathlib import Path

import serial

from capture.acquisition.record_reader import SILENCE_S, RecordReader
from capture.files.errors import CaptureError, first_line

BAUD = 1_000_000
READ_BYTES = 65_536


class SerialReader(RecordReader):
    """Reads the records from `url`: a port, a PTY, or socket://…"""

    def __init__(self, url: str, silence_s: float = SILENCE_S, log: Path | None = None) -> None:
        super().__init__(f"serial {url}", silence_s, log)
        self._url = url
        self._port = _open(url)

    def _receive(self) -> bytes:
        """Does not block: pySerial's blocking read drops what it has when the line breaks."""
        return bytes(self._port.read(READ_BYTES))

    def _release(self) -> None:
        self._port.close()

    def _broken(self, error: Exception) -> str:
        return (
            f"The serial line {self._url} broke after {len(self._data)} bytes ({first_line(error)}); "
            "check the cable and the board's power, then run again."
        )

    def _silence(self) -> str:
        return (
            f"The serial line {self._url} fell silent for {self._silence_s:g} s after {len(self._data)} "
            "bytes and before END; check that the firmware runs and that this is the board's port."
        )


def _open(url: str) -> serial.SerialBase:
    try:
        return serial.serial_for_url(url, baudrate=BAUD, timeout=0)
    except (serial.SerialException, OSError, ValueError) as error:
        raise CaptureError(
            f"The serial line {url} cannot be opened ({first_line(error)}); check the port in bench.toml."
        ) from None
