"""pyOCD's command line: a process for each step, which has the debug probe while it runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from base.files.errors import CaptureError
from base.processes import children
from capture.desk.probe_address import TARGET_SCRIPT, ProbeAddress

TIMEOUT_S = 120.0

# pyOCD's log lines are "0000255 E No target device available [reset_cmd]".
_LOG_DECORATION = re.compile(r"^\d+ [A-Z] | \[\w+\]$")
_HALTED = ("--connect", "halt", "--no-reset", "-O", "resume_on_disconnect=false")


class Pyocd:
    """pyOCD for the board behind one probe. Methods raise CaptureError with pyOCD's own reason."""

    def __init__(self, address: ProbeAddress) -> None:
        self._address = address

    def load(self, elf: Path, *binaries: tuple[Path, int]) -> None:
        """Flashes an ELF file, and each .bin file from its address on; leaves the core halted.

        In one call: pyOCD takes longer to start than to write.
        """
        self._call("load", *_HALTED, str(elf), *(f"{file}@{address:#010x}" for file, address in binaries))

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        self._call("reset", "--method", "hw")

    def _call(self, subcommand: str, *arguments: str) -> None:
        command = [
            *children.with_devices(),
            sys.executable,
            "-m",
            "pyocd",
            subcommand,
            "--no-wait",
            "--quiet",
        ]
        command += ["--script", str(TARGET_SCRIPT), "--target", self._address.target]
        command += ["--uid", self._address.unique_id] if self._address.unique_id else []
        try:
            done = children.run([*command, *arguments], within_s=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise CaptureError(f"pyOCD did not finish within {TIMEOUT_S:g} s; replug the board.") from None
        if done.returncode:
            why = _LOG_DECORATION.sub("", children.last_words(done.stderr))
            raise CaptureError(
                f"pyOCD cannot {subcommand} the board: {why}; check its USB cable and bench.toml."
            )
