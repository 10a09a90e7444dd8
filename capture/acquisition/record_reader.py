"""What all ways to hear the records share: bytes gathered in the background till the run ends."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from base.processes import signals
from base.run_folder.records import MOST_LOG_BYTES
from capture.desk.board import Resetter

# Between two looks at a transport that had nothing.
POLL_S = 0.01

# A read that a dead transport keeps waiting ends before that.
CLOSING_WITHIN_S = 15.0

_END = b"@END,"
_FAIL = b"@FAIL,"
_FIRST_RECORDS = (b"@BOOT,", b"@PROOF,", b"@PLAN,")


class NoRecords:
    """Stands for the records of a firmware that sends none."""

    problem: str | None = None
    debugger: Resetter | None = None
    data = b""
    whole = True
    """Nothing is missing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was opened."""

    def since(self, _begin: int) -> bytes:
        """Nothing came."""
        return b""

    def wait(self, _silence_s: float) -> bool:
        """Nothing is to come."""
        return True


class RecordReader(ABC):
    """Reads until END or FAIL, or close(). Silence ends nothing: a loader may still have to start.

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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

    def close(self) -> None:
        """Stops reading and lets the transport go, even one whose library does not come back."""
        self._stopping.set()
        self._thread.join(CLOSING_WITHIN_S)
        if self._thread.is_alive():
            self.problem = (
                f"The transport of the records did not close within {CLOSING_WITHIN_S:g} s; run again."
            )
        else:
            self._release()

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
            self._read_to_end()
        except Exception as error:  # whatever a transport's library raises
            self.problem = self._broken(error)
        finally:
            self._leave_log()
            self._ended.set()

    def _read_to_end(self) -> None:
        while not self._stopping.is_set():
            chunk = self._receive()
            if chunk:
                self._keep(chunk[: MOST_LOG_BYTES - len(self._data)])
                if len(self._data) == MOST_LOG_BYTES:
                    self.problem = (
                        f"The board said more than {MOST_LOG_BYTES:,} bytes without END, and no run says as "
                        "much; check the firmware and the baud rate."
                    )
                    return
                if _run_has_ended(self._data):
                    return
            else:
                self._stopping.wait(self.poll_s)

    def _keep(self, chunk: bytes) -> None:
        self._data += chunk
        if self._log is not None:
            written = None
            with suppress(OSError):
                written = self._log.write(chunk)
            if written != len(chunk):
                self._leave_log()

    def _leave_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None


def _run_has_ended(data: bytearray) -> bool:
    """True once the last whole line is one of the two records that end a run.

    An END before any record of a start is that of a run before, which the port still held.
    """
    last = _last_line(data)
    if last.startswith(_END):
        return any(first in data for first in _FIRST_RECORDS)
    return last.startswith(_FAIL)


def _last_line(data: bytearray) -> bytes:
    """The last whole line; empty if there is none."""
    end = data.rfind(b"\n")
    start = data.rfind(b"\n", 0, end) + 1
    return bytes(data[start:end]) if end >= 0 else b""
