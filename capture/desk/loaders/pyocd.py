"""pyOCD, the default: a process for each step. Nothing here loads pyOCD itself."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from base.files.errors import CaptureError
from base.processes import children
from capture.desk import option_bytes
from capture.desk.loading import Connection, Settings, UnreachedError, Way
from capture.desk.pyocd import TARGET_SCRIPT
from scenarios.operations import image_address

TIMEOUT_S = 120.0

# pyOCD gives a sector 10 s. Sectors of 128 KiB take up to 4 s at 1.8 V (DS10086), and an emulated
# board on a busy machine longer; a board that hangs still ends in TIMEOUT_S.
_PATIENCE = tuple(
    word for step in ("erase_sector", "program") for word in ("-O", f"flash.timeout.{step}={TIMEOUT_S / 2:g}")
)

# pyOCD's log lines are "0000255 E No target device available [reset_cmd]".
_LOG_DECORATION = re.compile(r"^\d+ [A-Z] | \[\w+\]$")
# What it says of a flash that it cannot read, erase or program, whatever the reason.
_OF_THE_FLASH = re.compile(r"flash|transfer fault", re.IGNORECASE)
_NO_PROBE = re.compile(r"no (?:\w+ )*probe|no such device", re.IGNORECASE)
_HALTED = ("--no-reset", "-O", "resume_on_disconnect=false")
_UNDER_RESET = ("--connect", "under-reset")


class Pyocd:
    """pyOCD for the board behind one probe. Methods raise CaptureError with pyOCD's own reason.

    The reset pin starts the firmware, because a reset through the core's debug port ends with
    pyOCD clearing DEMCR.TRCENA, which would stop DWT_CYCCNT after the firmware has armed it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.connection = Connection("pyOCD")

    def load(self, elf: Path, image: bytes) -> None:
        """In one call, which takes longer to start than to write; it leaves the core halted."""
        if not image:
            self._load(str(elf))
            return
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            file = Path(folder) / "operations.bin"
            file.write_bytes(image)
            self._load(str(elf), f"{file}@{image_address(elf):#010x}")

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        self.connection.use(
            lambda under_reset: self._call("reset", *(_UNDER_RESET if under_reset else ()), "--method", "hw")
        )

    def tools(self) -> Mapping[str, str]:
        """pyOCD's version."""
        return {"pyocd": importlib.metadata.version("pyocd")}

    def _load(self, *files: str) -> None:
        def write(under_reset: bool) -> None:
            connect = _UNDER_RESET if under_reset else ("--connect", "halt")
            try:
                self._call("load", *connect, *_HALTED, *_PATIENCE, *files)
            except CaptureError as error:
                if _OF_THE_FLASH.search(str(error)) and (why := self._forbidden()):
                    raise CaptureError(why) from None
                raise

        self.connection.use(write)

    def _forbidden(self) -> str | None:
        """What of the option bytes keeps the board from being loaded, if they can be read."""
        target = option_bytes.of_target(self._settings.target)
        if target is None:
            return None
        reads = [word for register in target.registers for word in ("--command", f"read32 {register:#x}")]
        try:
            done = self._run("commander", "--connect", "attach", *reads)
        except subprocess.TimeoutExpired:
            return None
        why = target.why_not(done.stdout)
        return why and f"pyOCD cannot load the board: {why}"

    def _call(self, subcommand: str, *arguments: str) -> None:
        try:
            done = self._run(subcommand, *arguments)
        except subprocess.TimeoutExpired:
            raise UnreachedError(
                f"pyOCD did not finish within {TIMEOUT_S:g} s; press the board's black button (reset) and "
                "run again."
            ) from None
        if done.returncode:
            why = _LOG_DECORATION.sub("", children.last_words(done.stderr))
            of_the_core = not (_NO_PROBE.search(why) or _OF_THE_FLASH.search(why))
            raise (UnreachedError if of_the_core else CaptureError)(
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
        command += ["--script", str(TARGET_SCRIPT), "--target", self._settings.target]
        command += ["--uid", self._settings.probe] if self._settings.probe else []
        return children.run([*command, *arguments], within_s=TIMEOUT_S)


WAY = Way(
    title="pyOCD",
    program="",
    get="it comes with the bench",
    open=Pyocd,
    keys=frozenset({"target", "probe"}),
    needs={"target": "add what pyOCD calls the chip"},
    serial_number=lambda probe: probe.rpartition(":")[2],
    has_rtt=True,
)
