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

from capture.desk.loading import Loader, Said, Words, folder_of, pieces
from scenarios.operations import image_address

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


class JLink(Loader):
    """J-Link Commander for the board behind one probe. The reset pin starts the firmware."""

    title = "J-Link"
    program = "JLinkExe"
    get = "install SEGGER's J-Link software and documentation pack"
    find_target = 'add what J-Link calls the chip, such as "STM32F401RE"'
    words = (
        Words("target", re.compile(r"[\w.+-]+"), 'what J-Link calls the chip, such as "STM32F401RE"'),
        Words("interface", re.compile(r"SWD|JTAG"), "SWD or JTAG"),
        Words("probe", re.compile(r"\d+"), "the J-Link's serial number, in digits"),
    )
    lets_go = True  # SEGGER does not say what it writes then; to wait in vain takes half a second
    reasons = (
        (_PROTECTED, "its flash is protected; lift it by J-Link's unlock, which erases the chip"),
        (_NO_PROBE, "there is no J-Link{probe} that it can open"),
    )

    @staticmethod
    def address(_vendor: int, _product: int, serial: str) -> str:
        """Its serial number, in digits."""
        return serial.lstrip("0")

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
                there = b""
                with suppress(OSError):
                    there = (folder / f"read{number}.bin").read_bytes()
                if len(there) != len(content):
                    raise self._refused("load", said)
                for at, pair in enumerate(zip(there, content, strict=True), address):
                    if pair[0] != pair[1]:
                        where = f"the flash does not hold what was written, from {at:#010x} on"
                        raise self.error("load", where)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        with folder_of({}) as folder:
            self._call("reset", folder, [_RESET_BY_PIN, "r", "g"])

    def tools(self) -> Mapping[str, str]:
        """J-Link Commander's version, which it says before it looks for a probe."""
        with folder_of({"version.jlink": b"exit\n"}) as folder:
            said = self.run(["-NoGui", "1", "-CommandFile", "version.jlink"], folder)
        match = _VERSION.search(said.first(_VERSION))
        return {"jlink": match[1] if match else "unknown"}

    def _call(self, to: str, folder: Path, commands: Sequence[str]) -> Said:
        (folder / "commands.jlink").write_text("\n".join(["ExitOnError 1", *commands, "qc", ""]))
        settings = self._settings
        words = ["-NoGui", "1", "-ExitOnError", "1", "-Device", settings.target]
        words += ["-If", settings.interface or "SWD", "-Speed", str(settings.speed_khz or DEFAULT_SPEED_KHZ)]
        words += ["-SelectEmuBySN", settings.probe] if settings.probe else []
        words += [*settings.arguments, "-AutoConnect", "1", "-CommandFile", "commands.jlink"]
        said = self.run(words, folder)
        if said.status or said.first(_NO_PROBE, _NO_CHIP):
            raise self._refused(to, said)
        if said.first(_UNDER_RESET):
            self.tell_of_reset()
        return said

    def _refused(self, to: str, said: Said) -> Exception:
        why = said.first(_NO_CHIP, _ERROR) or "it does not hand over what it was asked to read back"
        return self.failed(to, said, why.strip("* "))


LOADER = JLink
