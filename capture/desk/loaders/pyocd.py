"""pyOCD, the default: a process for each step. Nothing here loads pyOCD itself."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from base.files.errors import CaptureError
from base.processes import children
from capture.desk import option_bytes
from capture.desk.board import TARGET_SCRIPT
from capture.desk.loading import TIMEOUT_S, Loader, Said, UnreachedError
from scenarios.operations import image_address

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


class Pyocd(Loader):
    """pyOCD for the board behind one probe.

    The reset pin starts the firmware, because a reset through the core's debug port ends with
    pyOCD clearing DEMCR.TRCENA, which would stop DWT_CYCCNT after the firmware has armed it.
    """

    title = "pyOCD"
    keys = frozenset({"target", "probe"})
    find_target = "add what pyOCD calls the chip"
    has_rtt = True

    @staticmethod
    def serial_number(probe: str) -> str:
        """Behind what says how pyOCD reaches it."""
        return probe.rpartition(":")[2]

    def command(self) -> list[str]:
        """As a module of the bench's own Python."""
        return [sys.executable, "-m", "pyocd"]

    def load(self, elf: Path, image: bytes) -> None:
        """In one call, which takes longer to start than to write; it leaves the core halted."""
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            files = [str(elf)]
            if image:
                file = Path(folder) / "operations.bin"
                file.write_bytes(image)
                files.append(f"{file}@{image_address(elf):#010x}")

            def write(under_reset: bool) -> None:
                connect = _UNDER_RESET if under_reset else ("--connect", "halt")
                try:
                    self._call("load", *connect, *_HALTED, *_PATIENCE, *files)
                except CaptureError as error:
                    if _OF_THE_FLASH.search(str(error)) and (why := self._forbidden()):
                        raise CaptureError(f"pyOCD cannot load the board: {why}") from None
                    raise

            self.reach(write)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        self.reach(
            lambda under_reset: self._call("reset", *(_UNDER_RESET if under_reset else ()), "--method", "hw")
        )

    def tools(self) -> Mapping[str, str]:
        """pyOCD's version."""
        return {"pyocd": importlib.metadata.version("pyocd")}

    def _forbidden(self) -> str | None:
        """What of the option bytes keeps the board from being loaded, if they can be read."""
        target = option_bytes.of_target(self._settings.target)
        if target is None:
            return None
        reads = [word for register in target.registers for word in ("--command", f"read32 {register:#x}")]
        try:
            return target.why_not(self._said("commander", "--connect", "attach", *reads).output)
        except UnreachedError:
            return None

    def _call(self, subcommand: str, *arguments: str) -> None:
        said = self._said(subcommand, *arguments)
        if said.status:
            why = _LOG_DECORATION.sub("", children.last_words(said.complaints))
            of_the_core = not (_NO_PROBE.search(why) or _OF_THE_FLASH.search(why))
            raise self.error(subcommand, why, UnreachedError if of_the_core else CaptureError)

    def _said(self, subcommand: str, *arguments: str) -> Said:
        words = [subcommand, "--no-wait", "--quiet", "--script", str(TARGET_SCRIPT)]
        words += ["--target", self._settings.target]
        words += ["--uid", self._settings.probe] if self._settings.probe else []
        return self.run([*words, *arguments])


LOADER = Pyocd
