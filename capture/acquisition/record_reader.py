"""How the records of a run are heard: bytes gathered in the background, by the serial line or by
RTT, till the run ends.
"""

from __future__ import annotations

import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

import serial

from base.files.errors import CaptureError, first_line
from base.processes import signals
from base.run_folder.records import MOST_LOG_BYTES
from capture.desk.board import ProbeAddress, Resetter
from scenarios.operations import DEFAULT_BAUD

if TYPE_CHECKING:
    from capture.desk.debug_probe import ProbeSession

# Between two looks at a transport that had nothing.
POLL_S = 0.01

# A read that a dead transport keeps waiting ends before that.
CLOSING_WITHIN_S = 15.0

_END = b"@END,"
_FAIL = b"@FAIL,"
_FIRST_RECORDS = (b"@BOOT,", b"@PROOF,", b"@PLAN,")


class RecordReader(ABC):
    """Reads until END or FAIL, or the block ends. Silence ends nothing: a loader may still have to
    start.

    Use it as a context manager. Opening raises CaptureError; afterwards nothing does: what went
    wrong is in `problem`, and every byte that came is in `data`; and in the file `log` already when
    it came, if there is one and the disk takes it.
    """

    poll_s = POLL_S

    debugger: Resetter | None = None
    """Who reads the records through the debug probe, and so alone can reset the board."""

    def __init__(self, name: str, log: Path | None = None) -> None:
        self.problem: str | None = None
        self._data = bytearray()
        self._log_path = log
        self._log: IO[bytes] | None = None
        self._ended = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, name=name, daemon=True)

    def __enter__(self) -> Self:
        if self._log_path is not None:
            with suppress(OSError):  # whoever stores the run writes the whole file, and tells
                self._log = self._log_path.open("wb", buffering=0)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops reading and lets the transport go, even one whose library does not come back."""
        self._stopping.set()
        self._thread.join(CLOSING_WITHIN_S)
        if self._thread.is_alive():
            self.problem = (
                f"The transport of the records did not close within {CLOSING_WITHIN_S:g} s; run again."
            )
        else:
            self._release()

    @property
    def data(self) -> bytes:
        """The bytes received so far, unchanged."""
        return bytes(self._data)

    def since(self, begin: int) -> bytes:
        """The bytes received so far, but for the first `begin`."""
        return bytes(self._data[begin:])

    @property
    def whole(self) -> bool:
        """Whether the run has come to its end: the last record is END."""
        return _last_line(self._data).startswith(_END)

    def wait(self, silence_s: float) -> bool:
        """Waits for the end of the run on this transport.

        False if nothing came for `silence_s`, or a signal did.
        """
        heard, heard_s = -1, time.monotonic()
        while not self._ended.wait(min(signals.POLL_S, silence_s)):
            if len(self._data) != heard:
                heard, heard_s = len(self._data), time.monotonic()
            if signals.asked() is not None or time.monotonic() - heard_s >= silence_s:
                return self._ended.is_set()
        return True

    @abstractmethod
    def _receive(self) -> bytes:
        """What has come since the last call, at once; empty if nothing has."""

    @abstractmethod
    def _release(self) -> None:
        """Closes what was opened."""

    @abstractmethod
    def _broken(self, error: Exception) -> str:
        """The sentence for an `error` that _receive() raised."""

    def _read(self) -> None:
        try:
            with self._log or nullcontext():
                while not self._stopping.is_set():
                    chunk = self._receive()
                    if not chunk:
                        self._stopping.wait(self.poll_s)
                        continue
                    self._keep(chunk[: MOST_LOG_BYTES - len(self._data)])
                    if len(self._data) == MOST_LOG_BYTES:
                        self.problem = (
                            f"The board said more than {MOST_LOG_BYTES:,} bytes without END, and no run says "
                            "as much; check the firmware and the baud rate."
                        )
                        return
                    # An END before any record of a start is that of a run before, which the port
                    # held.
                    last = _last_line(self._data)
                    if last.startswith(_FAIL) or (
                        last.startswith(_END) and any(first in self._data for first in _FIRST_RECORDS)
                    ):
                        return
        except Exception as error:  # whatever a transport's library raises
            self.problem = self._broken(error)
        finally:
            self._ended.set()

    def _keep(self, chunk: bytes) -> None:
        """Adds it to the log, too, until the disk does not take it."""
        self._data += chunk
        with suppress(OSError):
            if self._log is None or self._log.write(chunk) == len(chunk):
                return
        self._log = None


def _last_line(data: bytearray) -> bytes:
    """The last whole line; empty if there is none."""
    end = data.rfind(b"\n")
    start = data.rfind(b"\n", 0, end) + 1
    return bytes(data[start:end]) if end >= 0 else b""


# The serial line: every byte of a run, read in the background until the firmware has ended.


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
        port, gone = None, self._url
        deadline_s = time.monotonic() + _BACK_WITHIN_S
        while port is None and self._find is not None and time.monotonic() < deadline_s:
            with suppress(CaptureError):
                port = _open(self._find(), self._baud)
            if port is None and self._stopping.wait(_BACK_POLL_S):
                break
        if port is None:
            raise error
        self._port, self._url = port, str(port.port)
        if self._data:
            self.problem = (
                f"The serial line {gone} broke after {len(self._data)} bytes ({first_line(error)}) and "
                f"came back as {self._url}; what the board said meanwhile is lost: check the cable, then "
                "run again."
            )

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


# Records by RTT: read out of the board's SRAM by a debugger, while the firmware runs.


CONTROL_BLOCK = "_SEGGER_RTT"
ID = b"SEGGER RTT".ljust(16, b"\0")

# id, numbers of up and down buffers; then the first up buffer: name, ring, size, write offset, read
# offset, flags.
_CONTROL_BLOCK = struct.Struct("<16sii6I")
_READ_OFFSET = 16 + 4 + 4 + 16
_WORD_BYTES = 4


class RttReader(RecordReader):
    """Reads the records of the firmware `elf` through the probe at `address`.

    Attaching does not start a board that is held. What an earlier run left in SRAM is not read.
    """

    # A ring fills a hundred times faster than the patience of a serial line.
    poll_s = 0.0005

    debugger: ProbeSession

    def __init__(self, address: ProbeAddress, elf: Path, log: Path | None = None) -> None:
        super().__init__(f"RTT {address.unique_id}", log)
        from capture.desk.debug_probe import ProbeSession, symbol  # loads pyOCD: other runs need it not

        self._control_block = symbol(elf, CONTROL_BLOCK)
        self.debugger = ProbeSession(address)
        try:
            # Destroys the id: SRAM outlives a reset, and an earlier run's records are not of this
            # one.
            self.debugger.write_word(self._control_block, 0)
        except Exception as error:  # whatever pyOCD raises
            self._release()
            raise CaptureError(
                f"The board's SRAM cannot be written ({first_line(error)}); check its power and run again."
            ) from None

    def _receive(self) -> bytes:
        """All that lies in the ring, which is empty then; nothing before the firmware offers it."""
        identity, buffers, _, _, ring, size, write, read, _ = _CONTROL_BLOCK.unpack(
            self._bytes(self._control_block, _CONTROL_BLOCK.size)
        )
        if identity != ID or write == read:
            return b""
        if buffers < 1 or write >= size or read >= size:
            raise ValueError(f"the ring of {size} bytes has the offsets {write} and {read}")
        if write > read:
            data = self._bytes(ring + read, write - read)
        else:
            data = self._bytes(ring + read, size - read) + self._bytes(ring, write)
        self.debugger.write_word(self._control_block + _READ_OFFSET, write)
        return data

    def _bytes(self, address: int, count: int) -> bytes:
        """Read by whole words, in one transfer."""
        if not count:
            return b""
        before = address % _WORD_BYTES
        words = (before + count + _WORD_BYTES - 1) // _WORD_BYTES
        content = self.debugger.read_words(address - before, words)
        return struct.pack(f"<{words}I", *content)[before : before + count]

    def _release(self) -> None:
        self.debugger.close()

    def _broken(self, error: Exception) -> str:
        return (
            f"Reading the records by RTT broke after {len(self._data)} bytes ({first_line(error)}); "
            "check the debug probe and the board's power, then run again."
        )
