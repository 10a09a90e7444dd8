"""OpenOCD 0.12: a process for each step, told what to do by commands of its own language (Tcl).

Sources of what it says: src/flash/nor/tcl.c ("wrote N bytes"), src/target/target.c ("verified N
bytes", "diff N address"), src/jtag/drivers/stlink_usb.c, src/flash/nor/stm32f2x.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from base.files.errors import CaptureError
from capture.desk.loader_tool import FIRMWARE, OPERATIONS, Said, Tool, files, folder_of, pieces
from capture.desk.loading import Connection, Settings, UnreachedError, Way, Words
from scenarios.operations import image_address

DEFAULT_INTERFACE = "interface/stlink.cfg"
GET = "install it, on Debian apt-get install openocd"

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


class OpenOcd:
    """OpenOCD for the board behind one probe. The reset pin starts the firmware."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tool = Tool("OpenOCD", "openocd", GET, settings)
        self.connection = Connection(self._tool.title)

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes and compares both in one call, which leaves the core halted."""
        commands = ["reset halt", f"flash write_image erase {FIRMWARE}", f"verify_image {FIRMWARE}"]
        sizes = [sum(len(content) for _, content in pieces(elf))]
        if image:
            at = f"{image_address(elf):#010x}"
            commands += [
                f"flash write_image erase {OPERATIONS} {at} bin",
                f"verify_image {OPERATIONS} {at} bin",
            ]
            sizes.append(len(image))

        def write(under_reset: bool) -> None:
            with files(elf, image) as folder:
                said = self._tool.run(self._arguments(under_reset, *commands), folder)
            verified = [int(match[1]) for line in said.lines if (match := _VERIFIED.match(line))]
            if said.status or verified != sizes:
                raise self._failed("load", said)

        self.connection.use(write)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""

        def pull(under_reset: bool) -> None:
            with folder_of({}) as folder:
                said = self._tool.run(self._arguments(under_reset, "reset run"), folder)
            if said.status or said.first(_ERROR):
                raise self._failed("reset", said)

        self.connection.use(pull)

    def tools(self) -> Mapping[str, str]:
        """OpenOCD's version."""
        version = self._tool.version("--version", _VERSION)
        return {"openocd": version.removeprefix("Open On-Chip Debugger ")}

    def _arguments(self, under_reset: bool, *commands: str) -> list[str]:
        settings = self._settings
        words = ["-c", _NO_SERVERS, "-f", settings.interface or DEFAULT_INTERFACE]
        words += ["-c", f"adapter serial {settings.probe}"] if settings.probe else []
        words += [*settings.arguments, "-f", settings.target]
        words += ["-c", f"adapter speed {settings.speed_khz}"] if settings.speed_khz else []
        words += ["-c", _UNDER_RESET if under_reset else _ONLY_THE_PIN]
        words += ["-c", _TOUCH_NOTHING_ELSE, "-c", "init"]
        return [*words, *(word for command in commands for word in ("-c", command)), "-c", "shutdown"]

    def _failed(self, to: str, said: Said) -> CaptureError:
        if difference := said.first(*_DIFFERS):
            return self._tool.failed(to, f"the flash does not hold what was written ({difference})")
        if said.first(_PROTECTED):
            why = "its flash is protected; lift it by STM32CubeProgrammer, which erases the chip, or by the "
            return self._tool.failed(to, f"{why}stm32f2x unlock of OpenOCD")
        if said.first(_NO_PROBE):
            named = f" {self._settings.probe}" if self._settings.probe else ""
            return self._tool.failed(to, f"there is no debug probe{named} that it can open")
        why = said.first(_NO_CHIP, _ERROR) or "it does not say that it compared all that it wrote"
        kind = UnreachedError if said.first(_NO_CHIP) else CaptureError
        return self._tool.failed(to, _LOG.sub("", why).rstrip("."), kind)


WAY = Way(
    title="OpenOCD",
    program="openocd",
    get=GET,
    open=OpenOcd,
    keys=frozenset({"target", "probe", "interface", "speed_khz", "program", "arguments"}),
    needs={"target": 'add OpenOCD\'s file of the chip, such as "target/stm32f4x.cfg"'},
    words={
        "target": Words(re.compile(r"\S+\.cfg"), 'a file of OpenOCD, such as "target/stm32f4x.cfg"'),
        "interface": Words(re.compile(r"\S+\.cfg"), f'a file of OpenOCD, such as "{DEFAULT_INTERFACE}"'),
        "probe": Words(re.compile(r"[\w.:-]+"), "the probe's serial number"),
    },
)
