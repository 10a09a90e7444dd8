"""pyOCD: which probe is meant, and a process for each step. Nothing here loads pyOCD itself."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from base.files.errors import CaptureError
from base.paths import ROOT
from base.processes import children
from capture.desk import option_bytes

TARGET_SCRIPT = ROOT / "pyocd_user.py"


@dataclass(frozen=True)
class ProbeAddress:
    """A probe by pyOCD's unique id (empty: the only one connected), and the target behind it."""

    unique_id: str
    target: str


TIMEOUT_S = 120.0

# pyOCD's log lines are "0000255 E No target device available [reset_cmd]".
_LOG_DECORATION = re.compile(r"^\d+ [A-Z] | \[\w+\]$")
# What it says of a flash that it cannot read, erase or program, whatever the reason.
_OF_THE_FLASH = re.compile(r"flash|transfer fault", re.IGNORECASE)
_HALTED = ("--connect", "halt", "--no-reset", "-O", "resume_on_disconnect=false")


class Pyocd:
    """pyOCD for the board behind one probe. Methods raise CaptureError with pyOCD's own reason."""

    def __init__(self, address: ProbeAddress) -> None:
        self._address = address

    def load(self, elf: Path, *binaries: tuple[Path, int]) -> None:
        """Flashes an ELF file, and each .bin file from its address on; leaves the core halted.

        In one call: pyOCD takes longer to start than to write.
        """
        try:
            self._call("load", *_HALTED, str(elf), *(f"{file}@{address:#010x}" for file, address in binaries))
        except CaptureError as error:
            may_be_forbidden = _OF_THE_FLASH.search(str(error)) is not None
            raise CaptureError((may_be_forbidden and self._forbidden()) or str(error)) from None

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        self._call("reset", "--method", "hw")

    def _forbidden(self) -> str | None:
        """What of the option bytes keeps the board from being loaded, if they can be read."""
        if not self._address.target.lower().startswith("stm32f4"):
            return None
        read = f"read32 {option_bytes.FLASH_OPTCR:#x}"
        try:
            done = self._run("commander", "--connect", "attach", "--command", read)
        except subprocess.TimeoutExpired:
            return None
        optcr = option_bytes.read_from(done.stdout)
        why = None if optcr is None else option_bytes.objection(optcr)
        return why and f"pyOCD cannot load the board: {why}"

    def _call(self, subcommand: str, *arguments: str) -> None:
        try:
            done = self._run(subcommand, *arguments)
        except subprocess.TimeoutExpired:
            raise CaptureError(f"pyOCD did not finish within {TIMEOUT_S:g} s; replug the board.") from None
        if done.returncode:
            why = _LOG_DECORATION.sub("", children.last_words(done.stderr))
            raise CaptureError(
                f"pyOCD cannot {subcommand} the board: {why}; check its USB cable and bench.toml."
            )

    def _run(self, subcommand: str, *arguments: str) -> subprocess.CompletedProcess[str]:
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
        return children.run([*command, *arguments], within_s=TIMEOUT_S)


FAULTS_WITHIN_S = 60.0


def post_mortem(probe: ProbeAddress, elf: Path) -> tuple[str, ...]:
    """What the core's fault registers tell, in a sentence, or why they cannot be read.

    A process of its own attaches to the probe (fault_report.py) and halts the core for a moment.
    Raises signals.Stopped.
    """
    command = [*children.with_devices(), sys.executable, "-m", "capture.desk.fault_report"]
    command += [probe.target, str(elf.resolve())]
    command += [probe.unique_id] if probe.unique_id else []
    try:
        done = children.run(command, within_s=FAULTS_WITHIN_S, folder=ROOT)
    except subprocess.TimeoutExpired:
        return (
            f"The board's fault registers could not be read within {FAULTS_WITHIN_S:g} s; replug the board.",
        )
    if done.returncode:
        return (f"The board's fault registers could not be read: {children.last_words(done.stderr)}",)
    return tuple(done.stdout.strip().splitlines()[-1:])
