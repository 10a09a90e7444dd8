"""J-Link Commander (JLinkExe): a process for each step, told what to do by a command file.

Commands are those of SEGGER's J-Link user guide (UM08001, "J-Link Commander"). What was written is
read back by a process of its own, which has nothing of it in a cache, and compared here.
To a core that does not answer J-Link connects under reset by itself, and says so (from memory).
Tried with a stand-in only: neither a J-Link nor its program was there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from base.files.errors import CaptureError
from capture.desk.loader_tool import Said, Tool, folder_of, pieces
from capture.desk.loading import Connection, Settings, Way, Words
from scenarios.operations import image_address

GET = "install SEGGER's J-Link software and documentation pack"
DEFAULT_SPEED_KHZ = 4000

_RESET_BY_PIN = "RSetType 2"
_VERSION = re.compile(r"SEGGER J-Link Commander (\S+)")
_NO_PROBE = re.compile(
    r"Connecting to J-Link .*FAILED|Cannot connect to (?:the )?(?:J-Link|probe)|no emulators? ", re.IGNORECASE
)
_NO_CHIP = re.compile(
    r"Cannot connect to target|Could not connect to (?:the )?target|VTref.*low", re.IGNORECASE
)
_UNDER_RESET = re.compile(r"connect(?:ing)? under reset", re.IGNORECASE)
_PROTECTED = re.compile(r"protection|protected|is secured", re.IGNORECASE)
_ERROR = re.compile(r"error|fail|could not|cannot|unknown command", re.IGNORECASE)


class JLink:
    """J-Link Commander for the board behind one probe. The reset pin starts the firmware."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tool = Tool("J-Link", "JLinkExe", GET, settings)
        self.connection = Connection(self._tool.title)

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, reads them back, and leaves the core halted."""
        wanted = [*pieces(elf), *([(image_address(elf), image)] if image else [])]
        with folder_of(
            {f"piece{number}.bin": content for number, (_, content) in enumerate(wanted)}
        ) as folder:
            load = [
                f"loadfile piece{number}.bin, {address:#010x}" for number, (address, _) in enumerate(wanted)
            ]
            self._call("load", folder, ["r", "h", *load])
            read = [
                f"savebin read{number}.bin, {address:#010x}, {len(content):#x}"
                for number, (address, content) in enumerate(wanted)
            ]
            said = self._call("load", folder, ["h", *read])
            for number, (address, content) in enumerate(wanted):
                self._compare(folder / f"read{number}.bin", address, content, said)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        with folder_of({}) as folder:
            self._call("reset", folder, [_RESET_BY_PIN, "r", "g"])

    def tools(self) -> Mapping[str, str]:
        """J-Link Commander's version, which it says before it looks for a probe."""
        with folder_of({"version.jlink": b"exit\n"}) as folder:
            said = self._tool.run(["-NoGui", "1", "-CommandFile", "version.jlink"], folder)
        match = _VERSION.search(said.text)
        return {"jlink": match[1] if match else "unknown"}

    def _call(self, to: str, folder: Path, commands: Sequence[str]) -> Said:
        (folder / "commands.jlink").write_text("\n".join(["ExitOnError 1", *commands, "qc", ""]))
        said = self._tool.run(self._arguments(), folder)
        if said.status or said.first(_NO_PROBE, _NO_CHIP):
            raise self._failed(to, said)
        if said.first(_UNDER_RESET):
            self.connection.tell()
        return said

    def _arguments(self) -> list[str]:
        settings = self._settings
        words = ["-NoGui", "1", "-ExitOnError", "1", "-Device", settings.target]
        words += ["-If", settings.interface or "SWD", "-Speed", str(settings.speed_khz or DEFAULT_SPEED_KHZ)]
        words += ["-SelectEmuBySN", settings.probe] if settings.probe else []
        return [*words, *settings.arguments, "-AutoConnect", "1", "-CommandFile", "commands.jlink"]

    def _compare(self, file: Path, address: int, content: bytes, said: Said) -> None:
        read = b""
        with suppress(OSError):
            read = file.read_bytes()
        if len(read) != len(content):
            raise self._failed("load", said)
        at = next(
            (at for at, (here, there) in enumerate(zip(read, content, strict=True)) if here != there), None
        )
        if at is not None:
            where = f"the flash does not hold what was written, from {address + at:#010x} on"
            raise self._tool.failed("load", where)

    def _failed(self, to: str, said: Said) -> CaptureError:
        if said.first(_PROTECTED):
            return self._tool.failed(
                to, "its flash is protected; lift it by J-Link's unlock, which erases the chip"
            )
        if said.first(_NO_PROBE):
            named = f" {self._settings.probe}" if self._settings.probe else ""
            return self._tool.failed(to, f"there is no J-Link{named} that it can open")
        why = said.first(_NO_CHIP, _ERROR) or "it does not hand over what it was asked to read back"
        return self._tool.failed(to, why.strip("* ").rstrip("."))


WAY = Way(
    title="J-Link",
    program="JLinkExe",
    get=GET,
    open=JLink,
    keys=frozenset({"target", "probe", "interface", "speed_khz", "program", "arguments"}),
    needs={"target": 'add what J-Link calls the chip, such as "STM32F401RE"'},
    words={
        "target": Words(re.compile(r"[\w.+-]+"), 'what J-Link calls the chip, such as "STM32F401RE"'),
        "interface": Words(re.compile(r"SWD|JTAG"), "SWD or JTAG"),
        "probe": Words(re.compile(r"\d+"), "the J-Link's serial number, in digits"),
    },
    address=lambda _vendor, _product, serial: serial.lstrip("0"),
    lets_go=True,  # SEGGER does not say what it writes then; to wait in vain takes half a second
)
