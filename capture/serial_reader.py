"""The serial line: every byte of a run, read in the background until the firmware says that it has ended."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import serial

from capture.edges import CaptureError

BAUD = 1_000_000
READ_BYTES = 65_536

# Reads do not block: a blocking read of pySerial drops what it has gathered when the line breaks under it.
POLL_S = 0.01

# The firmware speaks after each operation, so a line that is silent for this long is dead.
SILENCE_S = 10.0

_LAST_RECORDS = (b"@END,", b"@FAIL,")


class SerialReader:
    """Reads `url` (a port, a PTY, or socket://…) until END or FAIL, `silence_s` without a byte, or close().

    Use it as a context manager. Opening raises CaptureError; afterwards nothing does: what went wrong is in
    `problem`, and every byte that came is in `data`.
    """

    def __init__(self, url: str, silence_s: float = SILENCE_S) -> None:
        self.problem: str | None = None
        self._url = url
        self._silence_s = silence_s
        self._data = bytearray()
        self._ended = threading.Event()
        self._stopping = threading.Event()
        self._port = _open(url)
        self._thread = threading.Thread(target=self._read, name=f"serial {url}", daemon=True)

    def __enter__(self) -> SerialReader:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def data(self) -> bytes:
        """The bytes received so far, unchanged."""
        return bytes(self._data)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits for the end of the run on this line; False if `timeout_s` passed before."""
        return self._ended.wait(timeout_s)

    def close(self) -> None:
        """Stops reading and closes the port."""
        self._stopping.set()
        self._thread.join()
        self._port.close()

    def _read(self) -> None:
        try:
            self._read_to_end()
        except (serial.SerialException, OSError) as error:
            self.problem = (
                f"The serial line {self._url} broke after {len(self._data)} bytes ({_first_line(error)}); "
                "check the cable and the board's power, then run again."
            )
        finally:
            self._ended.set()

    def _read_to_end(self) -> None:
        heard_s = time.monotonic()
        while not self._stopping.is_set():
            chunk = self._port.read(READ_BYTES)
            if chunk:
                heard_s = time.monotonic()
                self._data += chunk
                if _run_has_ended(self._data):
                    return
            elif time.monotonic() - heard_s >= self._silence_s:
                self.problem = self._silence()
                return
            else:
                self._stopping.wait(POLL_S)

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
            f"The serial line {url} cannot be opened ({_first_line(error)}); check the port in bench.toml."
        ) from None


def _run_has_ended(data: bytearray) -> bool:
    """True once the last whole line is one of the two records that end a run."""
    end = data.rfind(b"\n")
    start = data.rfind(b"\n", 0, end) + 1
    return end >= 0 and data[start:end].startswith(_LAST_RECORDS)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
