"""OpenOCD 0.12: a process for each step, told what to do by commands of its own language (Tcl).

Sources of what it says: src/flash/nor/tcl.c ("wrote N bytes"), src/target/target.c ("verified N
bytes", "diff N address"), src/jtag/drivers/stlink_usb.c, src/flash/nor/stm32f2x.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from capture.desk.loading import FIRMWARE, OPERATIONS, Loader, Said, Words, files, folder_of, pieces
from scenarios.operations import image_address

DEFAULT_INTERFACE = "interface/stlink.cfg"

_NO_SERVERS = "gdb_port disabled; tcl_port disabled; telnet_port disabled"
_ONLY_THE_PIN = "reset_config srst_only srst_nogate"
_UNDER_RESET = f"{_ONLY_THE_PIN} connect_assert_srst"
# A target's file sets DBGMCU there (target/stm32f4x.cfg): clocks go on while the core sleeps, until
# the power goes. The bench measures a chip as it is without a debugger.
_TOUCH_NOTHING_ELSE = "[target current] configure -event examine-end {}"

_VERIFIED = re.compile(r"^verified (\d+) bytes")
_VERSION = re.compile(r"Open On-Chip Debugger \S+")
_DIFFERS = re.compile(r"^diff \d+ address"), re.compile(r"checksum mismatch|contents differ")
_PROTECTED = re.compile(r"[Pp]rotected|Security Bit Set")
_NO_PROBE = re.compile(r"^Error: open failed|^Error: unable to find a matching|no device found|libusb_open")
_NO_CHIP = re.compile(
    r"init mode failed|unable to connect to the target|Target not examined|Error connecting DP"
    r"|target voltage may be too low",
    re.IGNORECASE,
)
_ERROR = re.compile(r"^(?:Error|.*: Error): ?")
_LOG = re.compile(r"^(?:Error|Warn|Info) ?: ")


class OpenOcd(Loader):
    """OpenOCD for the board behind one probe. The reset pin starts the firmware."""

    title = "OpenOCD"
    program = "openocd"
    get = "install it, on Debian apt-get install openocd"
    find_target = 'add OpenOCD\'s file of the chip, such as "target/stm32f4x.cfg"'
    words = (
        Words("target", re.compile(r"\S+\.cfg"), 'a file of OpenOCD, such as "target/stm32f4x.cfg"'),
        Words("interface", re.compile(r"\S+\.cfg"), f'a file of OpenOCD, such as "{DEFAULT_INTERFACE}"'),
        Words("probe", re.compile(r"[\w.:-]+"), "the probe's serial number"),
    )
    reasons = (
        *((pattern, "the flash does not hold what was written ({line})") for pattern in _DIFFERS),
        (
            _PROTECTED,
            "its flash is protected; lift it by STM32CubeProgrammer, which erases the chip, or by the "
            "stm32f2x unlock of OpenOCD",
        ),
        (_NO_PROBE, "there is no debug probe{probe} that it can open"),
    )

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes and compares both in one call, which leaves the core halted."""
        commands = ["reset halt", f"flash write_image erase {FIRMWARE}", f"verify_image {FIRMWARE}"]
        sizes = [sum(len(content) for _, content in pieces(elf))]
        if image:
            place = f"{OPERATIONS} {image_address(elf):#010x} bin"
            commands += [f"flash write_image erase {place}", f"verify_image {place}"]
            sizes.append(len(image))

        def write(under_reset: bool) -> None:
            with files(elf, image) as folder:
                said = self.run(self._arguments(under_reset, *commands), folder)
            verified = [int(match[1]) for line in said.lines if (match := _VERIFIED.match(line))]
            if said.status or verified != sizes:
                raise self._refused("load", said)

        self.reach(write)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""

        def pull(under_reset: bool) -> None:
            with folder_of({}) as folder:
                said = self.run(self._arguments(under_reset, "reset run"), folder)
            if said.status or said.first(_ERROR):
                raise self._refused("reset", said)

        self.reach(pull)

    def tools(self) -> Mapping[str, str]:
        """OpenOCD's version."""
        return {"openocd": self.version(_VERSION).removeprefix("Open On-Chip Debugger ")}

    def _arguments(self, under_reset: bool, *commands: str) -> list[str]:
        settings = self._settings
        words = ["-c", _NO_SERVERS, "-f", settings.interface or DEFAULT_INTERFACE]
        words += ["-c", f"adapter serial {settings.probe}"] if settings.probe else []
        words += [*settings.arguments, "-f", settings.target]
        words += ["-c", f"adapter speed {settings.speed_khz}"] if settings.speed_khz else []
        words += ["-c", _UNDER_RESET if under_reset else _ONLY_THE_PIN]
        words += ["-c", _TOUCH_NOTHING_ELSE, "-c", "init"]
        return [*words, *(word for command in commands for word in ("-c", command)), "-c", "shutdown"]

    def _refused(self, to: str, said: Said) -> Exception:
        why = said.first(_NO_CHIP, _ERROR) or "it does not say that it compared all that it wrote"
        return self.failed(to, said, _LOG.sub("", why), _NO_CHIP)


LOADER = OpenOcd
