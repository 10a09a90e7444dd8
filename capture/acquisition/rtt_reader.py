"""Records by RTT: read out of the board's SRAM by a debugger, while the firmware runs."""

from __future__ import annotations

from pathlib import Path

from base.files.errors import CaptureError, first_line
from capture.acquisition.record_reader import RecordReader
from capture.acquisition.rtt_ring import RttRing
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
