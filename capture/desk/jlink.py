"""J-Link Commander (JLinkExe): a process for each step, told what to do by a command file.

Commands are those of SEGGER's J-Link user guide (UM08001, "J-Link Commander"). What was written is
read back by a process of its own, which has nothing of it in a cache, and compared here.
Tried with a stand-in only: neither a J-Link nor its program was there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from capture.desk.loading import VERSION_WITHIN_S, Loader, own_folder, segments
from scenarios.operations import image_address

DEFAULT_SPEED_KHZ = 4000


class JLink(Loader):
    """J-Link Commander for the board behind one probe. The reset pin starts the firmware."""

    title = "J-Link"
    program = "JLinkExe"
    get = "install SEGGER's J-Link software and documentation pack"
    version = re.compile(r"SEGGER J-Link Commander (\S+)")
    target = 'what J-Link calls the chip, such as "STM32F401RE"'

    _REFUSED = re.compile(
        r"^.*(?:cannot connect|could not|connecting to .*failed|no emulators?|protect|secured|error).*",
        re.IGNORECASE | re.MULTILINE,
    )

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, reads them back, and leaves the core halted."""
        pieces = segments(elf) | ({image_address(elf): image} if image else {})
        with own_folder() as folder:
            for address, content in pieces.items():
                (folder / f"{address:x}.bin").write_bytes(content)
            write = (f"loadfile {address:x}.bin, {address:#x}" for address in pieces)
            self._call("load", folder, "r", "h", *write)
            read = (f"savebin read{at:x}.bin, {at:#x}, {len(content):#x}" for at, content in pieces.items())
            self._call("load", folder, "h", *read)
            for address, content in pieces.items():
                file = folder / f"read{address:x}.bin"
                if not file.exists() or file.read_bytes() != content:
                    raise self._error("load", f"the flash does not hold what was written at {address:#010x}")

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        with own_folder() as folder:
            self._call("reset", folder, "RSetType 2", "r", "g")

    def tools(self) -> Mapping[str, str]:
        """J-Link Commander's version, which it says before it looks for a probe."""
        with own_folder() as folder:
            (folder / "version.jlink").write_text("exit\n")
            words = [self._program(), "-NoGui", "1", "-CommandFile", "version.jlink"]
            done = self._run(words, folder, VERSION_WITHIN_S)
        match = self.version.search(done.stdout)
        return {"jlink": match[1] if match else "unknown"}

    def _call(self, to: str, folder: Path, *commands: str) -> None:
        (folder / "commands.jlink").write_text("\n".join(["ExitOnError 1", *commands, "qc", ""]))
        settings = self._settings
        words = [self._program(), "-NoGui", "1", "-ExitOnError", "1", "-Device", settings.target]
        words += ["-If", settings.interface or "SWD", "-Speed", str(settings.speed_khz or DEFAULT_SPEED_KHZ)]
        words += ["-SelectEmuBySN", settings.probe] if settings.probe else []
        words += [*settings.arguments, "-AutoConnect", "1", "-CommandFile", "commands.jlink"]
        done = self._run(words, folder)
        refused = self._REFUSED.search(f"{done.stdout}\n{done.stderr}")
        if done.returncode or refused:
            raise self._error(to, refused[0].strip("* ") if refused else "it does not say why")
