"""Records by RTT: read out of the board's SRAM by a debugger, while the firmware runs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from base.files.errors import CaptureError, TailscopeError, first_line
from capture.acquisition.record_reader import RecordReader
from capture.desk.debug_probe import ProbeSession, symbol
from capture.desk.pyocd import ProbeAddress

CONTROL_BLOCK = "_SEGGER_RTT"


class RttReader(RecordReader):
    """Reads the records of the firmware `elf` through the probe at `address`.

    Attaching does not start a board that is held. What an earlier run left in SRAM is not read.
    """

    # A ring fills a hundred times faster than the patience of a serial line.
    poll_s = 0.0005

    debugger: ProbeSession

    def __init__(self, address: ProbeAddress, elf: Path, log: Path | None = None) -> None:
        super().__init__(f"RTT {address.unique_id}", log)
        control_block = symbol(elf, CONTROL_BLOCK)
        self.debugger = ProbeSession(address)
        self._ring = RttRing(self.debugger, control_block)
        self._forget_the_last_run()

    def _forget_the_last_run(self) -> None:
        try:
            self._ring.forget()
        except Exception as error:  # whatever pyOCD raises
            self._release()
            raise CaptureError(
                f"The board's SRAM cannot be written ({first_line(error)}); check its power and run again."
            ) from None

    def _receive(self) -> bytes:
        return self._ring.read()

    def _release(self) -> None:
        self.debugger.close()

    def _broken(self, error: Exception) -> str:
        return (
            f"Reading the records by RTT broke after {len(self._data)} bytes ({first_line(error)}); "
            "check the debug probe and the board's power, then run again."
        )


ID = b"SEGGER RTT".ljust(16, b"\0")

# id, numbers of up and down buffers; then the first up buffer: name, ring, size, write offset, read
# offset, flags.
_CONTROL_BLOCK = struct.Struct("<16sii6I")
_READ_OFFSET = 16 + 4 + 4 + 16
_WORD_BYTES = 4


class Memory(Protocol):
    """The board's memory as a debugger sees it, by words at aligned addresses."""

    def read_words(self, address: int, count: int) -> Sequence[int]: ...

    def write_word(self, address: int, value: int) -> None: ...


class RttError(TailscopeError):
    """The control block cannot be what the firmware wrote."""


class RttRing:
    """The ring behind the control block at `address`."""

    def __init__(self, memory: Memory, address: int) -> None:
        self._memory = memory
        self._address = address

    def forget(self) -> None:
        """Destroys the id: SRAM outlives a reset, and an earlier run's
        records are not of this one.
        """
        self._memory.write_word(self._address, 0)

    def read(self) -> bytes:
        """All that lies in the ring, which is empty then; nothing before the firmware offers it."""
        block = self._bytes(self._address, _CONTROL_BLOCK.size)
        identity, buffers, _, _, ring, size, write, read, _ = _CONTROL_BLOCK.unpack(block)
        if identity != ID or write == read:
            return b""
        if buffers < 1 or write >= size or read >= size:
            raise RttError(f"the ring of {size} bytes has the offsets {write} and {read}")
        if write > read:
            data = self._bytes(ring + read, write - read)
        else:
            data = self._bytes(ring + read, size - read) + self._bytes(ring, write)
        self._memory.write_word(self._address + _READ_OFFSET, write)
        return data

    def _bytes(self, address: int, count: int) -> bytes:
        """Read by whole words, in one transfer."""
        if not count:
            return b""
        before = address % _WORD_BYTES
        words = (before + count + _WORD_BYTES - 1) // _WORD_BYTES
        content = struct.pack(f"<{words}I", *self._memory.read_words(address - before, words))
        return content[before : before + count]
