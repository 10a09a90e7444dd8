"""The tools that load a board and pull its reset: pyOCD, the default, and OpenOCD 0.12. Two more,
untried, have files of their own.

Each step is a process of its own. Nothing here loads pyOCD itself. Sources of what OpenOCD says:
src/flash/nor/tcl.c, src/target/target.c ("verified N bytes"), src/jtag/drivers/stlink_usb.c.
"""

from __future__ import annotations

import importlib.metadata
import io
import re
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.files.errors import CaptureError
from base.files.whole import why
from base.processes import children
from capture.desk.board import TARGET_SCRIPT, Sentences
from scenarios.operations import image_address

if TYPE_CHECKING:
    from capture.desk.bench import LoaderResource

FIRMWARE, OPERATIONS = "firmware.elf", "operations.bin"
"""Names that no tool's language divides, whatever the user's files are called."""
TIMEOUT_S = 120.0
VERSION_WITHIN_S = 20.0
_LOOK_AT = (
    "check its USB cable, that the probe's NRST is wired, and bench.toml; where the flash is read- or "
    "write-protected by the option bytes, lift that with STM32CubeProgrammer."
)


class UnreachedError(CaptureError):
    """The tool ran, and did not do what it was asked. With the board's reset held it may."""


class Loader(ABC):
    """The tool behind one board. Its methods raise CaptureError, with the tool's own reason.

    `title` is the tool's name in sentences, `program` its command and `get` how to come by it.
    `version` finds its version in what `program --version` says.
    `keys` are the keys of bench.toml that it takes beside kind and clock, `target` says what it
    calls a chip. `has_rtt` is whether records can come through its probe while the board runs.
    `remarks` are sentences on what was done so that the core was reached.
    """

    title: ClassVar[str]
    program: ClassVar[str] = ""
    get: ClassVar[str] = ""
    version: ClassVar[re.Pattern[str]]
    keys: ClassVar[frozenset[str]] = frozenset(
        {"target", "probe", "interface", "speed_khz", "program", "arguments"}
    )
    target: ClassVar[str]
    has_rtt: ClassVar[bool] = False

    def __init__(self, settings: LoaderResource) -> None:
        self._settings = settings
        self.remarks: Sentences = ()

    @abstractmethod
    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, and compares what is there; the board is held. An empty image is none."""

    @abstractmethod
    def reset(self) -> None:
        """Lets the firmware run from reset, by the reset pin."""

    def tools(self) -> Mapping[str, str]:
        """Name and version of the tool."""
        done = self._run([self._program(), "--version"], within_s=VERSION_WITHIN_S)
        match = self.version.search(done.stdout + done.stderr)
        return {self.program.replace("-", "_"): match[1] if match else "unknown"}

    def _reach(self, call: Callable[[bool], None]) -> None:
        """`call` with whether the reset is to be held: the core is reached as it runs, and if that
        fails once more with its reset held. Raises CaptureError; at once where there is no tool.
        """
        try:
            call(False)
        except UnreachedError:
            call(True)
            self.remarks = (
                f"{self.title} reached the board only with its reset held: what ran there may have slept "
                "without DBG_SLEEP in DBGMCU_CR, or have taken the pins of SWD.",
            )

    def _program(self) -> str:
        """The path of its command. Raises CaptureError."""
        named = self._settings.program or self.program
        program = shutil.which(named)
        if program is None:
            raise CaptureError(f"{self.title} is not there ({named}): {self.get}.")
        return program

    def _run(
        self, command: Sequence[str], folder: Path | None = None, within_s: float = TIMEOUT_S
    ) -> subprocess.CompletedProcess[str]:
        """Runs it in `folder`, bounded in time. Raises CaptureError."""
        try:
            return children.run([*children.with_devices(), *command], within_s=within_s, folder=folder)
        except subprocess.TimeoutExpired:
            raise UnreachedError(
                f"{self.title} did not finish within {within_s:g} s and was ended; press the board's black "
                "button (reset) and run again."
            ) from None
        except OSError as error:
            raise CaptureError(
                f"{self.title} cannot be started ({error.strerror or error}); check program in bench.toml."
            ) from None

    def _error(self, to: str, why: str) -> UnreachedError:
        """That it could not `to` the board, and what to look at."""
        return UnreachedError(f"{self.title} cannot {to} the board: {why.rstrip('.')}; {_LOOK_AT}")


class Pyocd(Loader):
    """pyOCD for the board behind one probe.

    The reset pin starts the firmware, because a reset through the core's debug port ends with
    pyOCD clearing DEMCR.TRCENA, which would stop DWT_CYCCNT after the firmware has armed it.
    """

    title = "pyOCD"
    keys = frozenset({"target", "probe"})
    target = 'what pyOCD calls the chip, such as "stm32f401retx"'
    has_rtt = True

    # pyOCD gives a sector 10 s. Sectors of 128 KiB take up to 4 s at 1.8 V (DS10086), and an
    # emulated board on a busy machine longer; a board that hangs still ends in TIMEOUT_S.
    _PATIENCE = (
        *("-O", f"flash.timeout.erase_sector={TIMEOUT_S / 2:g}"),
        *("-O", f"flash.timeout.program={TIMEOUT_S / 2:g}"),
    )
    # pyOCD's log lines are "0000255 E No target device available [reset_cmd]".
    _LOG_DECORATION = re.compile(r"^\d+ [A-Z] | \[\w+\]$")
    _HALTED = ("--no-reset", "-O", "resume_on_disconnect=false")

    def load(self, elf: Path, image: bytes) -> None:
        """In one call, which takes longer to start than to write; it leaves the core halted."""
        with files(elf, image) as folder:
            words = [str(folder / FIRMWARE)]
            words += [f"{folder / OPERATIONS}@{image_address(elf):#010x}"] if image else []
            self._call("load", ["--connect", "halt"], *self._HALTED, *self._PATIENCE, *words)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        self._call("reset", [], "--method", "hw")

    def tools(self) -> Mapping[str, str]:
        """pyOCD's version."""
        return {"pyocd": importlib.metadata.version("pyocd")}

    def _call(self, subcommand: str, connect: Sequence[str], *arguments: str) -> None:
        command = [sys.executable, "-m", "pyocd", subcommand, "--no-wait", "--quiet"]
        command += ["--script", str(TARGET_SCRIPT), "--target", self._settings.target]
        command += ["--uid", self._settings.probe] if self._settings.probe else []

        def call(under_reset: bool) -> None:
            held = ["--connect", "under-reset"] if under_reset else connect
            done = self._run([*command, *held, *arguments])
            if done.returncode:
                raise self._error(subcommand, self._LOG_DECORATION.sub("", children.last_words(done.stderr)))

        self._reach(call)


class OpenOcd(Loader):
    """OpenOCD for the board behind one probe, told what to do by commands of its own language
    (Tcl). The reset pin starts the firmware.

    Its exit status alone is never believed: it must say that it compared all that it wrote.
    """

    title = "OpenOCD"
    program = "openocd"
    get = "install it, on Debian apt-get install openocd"
    version = re.compile(r"Open On-Chip Debugger (\S+)")
    target = 'OpenOCD\'s file of the chip, such as "target/stm32f4x.cfg"'

    _NO_SERVERS = "gdb_port disabled; tcl_port disabled; telnet_port disabled"
    _ONLY_THE_PIN = "reset_config srst_only srst_nogate"
    # A target's file sets DBGMCU there (target/stm32f4x.cfg): clocks go on while the core sleeps,
    # until the power goes. The bench measures a chip as it is without a debugger.
    _TOUCH_NOTHING_ELSE = "[target current] configure -event examine-end {}"
    _VERIFIED = re.compile(r"^verified (\d+) bytes", re.M)
    _WHY = re.compile(r"^(?:Error ?:|diff \d+ address).*", re.M)

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes and compares both in one call, which leaves the core halted."""
        commands = ["reset halt", f"flash write_image erase {FIRMWARE}", f"verify_image {FIRMWARE}"]
        sizes = [sum(len(content) for content in segments(elf).values())]
        if image:
            place = f"{OPERATIONS} {image_address(elf):#010x} bin"
            commands += [f"flash write_image erase {place}", f"verify_image {place}"]
            sizes.append(len(image))
        with files(elf, image) as folder:
            self._call("load", commands, folder, sizes)

    def reset(self) -> None:
        """Pulls the reset pin: the firmware starts."""
        self._call("reset", ["reset run"])

    def _call(
        self, to: str, commands: Sequence[str], folder: Path | None = None, sizes: Sequence[int] = ()
    ) -> None:
        settings = self._settings
        words = [self._program(), "-c", self._NO_SERVERS, "-f", settings.interface or "interface/stlink.cfg"]
        words += ["-c", f"adapter serial {settings.probe}"] if settings.probe else []
        words += [*settings.arguments, "-f", settings.target]
        words += ["-c", f"adapter speed {settings.speed_khz}"] if settings.speed_khz else []

        def call(under_reset: bool) -> None:
            pin = f"{self._ONLY_THE_PIN} connect_assert_srst" if under_reset else self._ONLY_THE_PIN
            steps = [pin, self._TOUCH_NOTHING_ELSE, "init", *commands, "shutdown"]
            done = self._run([*words, *(word for step in steps for word in ("-c", step))], folder)
            said = f"{done.stdout}\n{done.stderr}"
            why, verified = self._WHY.search(said), [int(size) for size in self._VERIFIED.findall(said)]
            if done.returncode or verified != list(sizes) or (why and not sizes):
                raise self._error(to, why[0] if why else "it does not say that it compared all that it wrote")

        self._reach(call)


@contextmanager
def own_folder() -> Iterator[Path]:
    """An empty folder, for as long as it is in use."""
    with tempfile.TemporaryDirectory(prefix="tailscope-") as name:
        yield Path(name)


@contextmanager
def files(elf: Path, image: bytes) -> Iterator[Path]:
    """A folder with the firmware and the operation image, for as long as it is in use. Raises
    CaptureError.
    """
    firmware = _content(elf)
    with own_folder() as folder:
        (folder / FIRMWARE).write_bytes(firmware)
        (folder / OPERATIONS).write_bytes(image)
        yield folder


def segments(elf: Path) -> dict[int, bytes]:
    """The bytes of all loadable segments that have any, by their address. Raises CaptureError."""
    content = _content(elf)
    try:
        contents = {
            int(segment["p_paddr"]): bytes(segment.data())
            for segment in ELFFile(io.BytesIO(content)).iter_segments("PT_LOAD")
            if segment["p_filesz"]
        }
    except DAMAGED:
        raise CaptureError(f"{elf} is a damaged ELF file; link it again.") from None
    if not contents:
        raise CaptureError(f"{elf} has nothing to load; link it again.")
    return contents


def _content(elf: Path) -> bytes:
    try:
        return elf.read_bytes()
    except OSError as error:
        raise CaptureError(f"{elf} cannot be read: {why(error)}.") from None
