"""What a way to load a board is, and which there are: the files of the folder `loaders`.

A file is called as its kind is in bench.toml (`probe_rs.py` is `probe-rs`) and has a `LOADER`.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Protocol

from elftools.elf.elffile import ELFFile

from base.files.complaints import WrongValueError, quoted
from base.files.elf import DAMAGED
from base.files.errors import CaptureError
from base.files.whole import why
from base.processes import children

LOADERS = Path(__file__).with_name("loaders")
TIMEOUT_S = 120.0
VERSION_WITHIN_S = 20.0

FIRMWARE, OPERATIONS = "firmware.elf", "operations.bin"
"""Names that no shell, script or command language divides, whatever the user's files are called."""


class Settings(Protocol):
    """What bench.toml says of a loader; each way gives the words its own meaning.

    `target` is the chip, `probe` the debug probe (empty: the only one connected), `interface` how
    the chip is reached, `speed_khz` the wire's clock (None: as the tool has it), `program` another
    path of the tool, `arguments` further words of its command line.
    """

    target: str
    probe: str
    interface: str
    speed_khz: int | None
    program: str
    arguments: list[str]


class UnreachedError(CaptureError):
    """The tool does not reach the core. With its reset held it may."""


@dataclass(frozen=True)
class Words:
    """What `key` of bench.toml may say: all that `pattern` matches, which `what` describes."""

    key: str
    pattern: re.Pattern[str]
    what: str


@dataclass(frozen=True)
class Said:
    """What a tool said, on both of its streams, and the status it ended with."""

    status: int
    output: str
    complaints: str

    @property
    def lines(self) -> list[str]:
        """Without those that are empty."""
        every = f"{self.output}\n{self.complaints}".splitlines()
        return [line.strip() for line in every if line.strip()]

    def first(self, *patterns: re.Pattern[str]) -> str:
        """The first line that one of the patterns, which are tried in this order, finds."""
        return next((line for pattern in patterns for line in self.lines if pattern.search(line)), "")


class Loader(ABC):
    """The tool behind one board. Its methods raise CaptureError, with the tool's own reason.

    Its exit status alone is never believed: what it says must tell that it did all that was asked.

    `title` is the tool's name in sentences, `program` its command (empty: no program of its own),
    `get` says how to come by it. `keys` are the keys of bench.toml that it takes beside kind and
    clock; what to do where the target is missing, `find_target` says. `words` restricts what a key
    says. `has_rtt` is whether records can come through its probe while the board runs. `lets_go`:
    when it leaves, behind the reset, it clears the core's debug registers, and with them TRCENA.
    `reasons` are sentences for what it says, where `{line}` is its line and `{probe}` the probe
    that is named.

    `remarks` are sentences on what was done so that the core was reached.
    """

    title: ClassVar[str]
    program: ClassVar[str] = ""
    get: ClassVar[str] = "it comes with the bench"
    keys: ClassVar[frozenset[str]] = frozenset(Settings.__annotations__)
    find_target: ClassVar[str]
    words: ClassVar[Sequence[Words]] = ()
    has_rtt: ClassVar[bool] = False
    lets_go: ClassVar[bool] = False
    reasons: ClassVar[Sequence[tuple[re.Pattern[str], str]]] = ()

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.remarks: tuple[str, ...] = ()

    @abstractmethod
    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, and compares what is there; the board is held, or runs unheard.

        An empty image is none.
        """

    @abstractmethod
    def reset(self) -> None:
        """Lets the firmware run from reset, by the reset pin where the tool has it."""

    @abstractmethod
    def tools(self) -> Mapping[str, str]:
        """Name and version of the tool."""

    @staticmethod
    def serial_number(probe: str) -> str:
        """That of the probe that bench.toml calls so."""
        return probe

    @staticmethod
    def address(_vendor: int, _product: int, serial: str) -> str:
        """What bench.toml calls the probe of these USB ids and this serial number."""
        return serial

    @classmethod
    def check(cls, given: Iterable[str], settings: Settings, kind: str) -> None:
        """Raises WrongValueError for keys that it does not have, or needs, or cannot understand."""
        for key in sorted(set(given) - cls.keys):
            raise WrongValueError(f"means nothing to a loader of kind {kind}", key, remedy="drop it")
        if not settings.target:
            raise WrongValueError("is missing", "target", remedy=cls.find_target)
        for words in cls.words:
            value = str(getattr(settings, words.key))
            if value and not words.pattern.fullmatch(value):
                raise WrongValueError(f"must be {words.what}, not {quoted(value)}", words.key)

    def reach(self, call: Callable[[bool], None]) -> None:
        """`call` with whether the reset is to be held: the core is reached as it runs, and if that
        fails once more with its reset held. Raises what it raises.
        """
        try:
            call(False)
        except UnreachedError as error:
            try:
                call(True)
            except UnreachedError:
                raise CaptureError(
                    f"{str(error).removesuffix('.')}. Holding its reset did not help: check that the "
                    "probe's NRST is wired, or put BOOT0 high (CN7-7 to CN7-5) and press the black button, "
                    "so that nothing of the flash runs."
                ) from None
            self.tell_of_reset()

    def tell_of_reset(self) -> None:
        """Notes that the reset was held."""
        self.remarks = (
            f"{self.title} reached the board only with its reset held: what ran there slept without "
            "DBG_SLEEP in DBGMCU_CR, or had taken the pins of SWD.",
        )

    def command(self) -> list[str]:
        """How the program is called. Raises CaptureError."""
        program = shutil.which(self._settings.program or self.program)
        if program is None:
            where = self._settings.program or f"{self.program} on PATH"
            raise CaptureError(f"{self.title} is not there ({where}): {self.get}.")
        return [program]

    def run(self, arguments: Sequence[str], folder: Path | None = None) -> Said:
        """Runs it in `folder`, bounded in time. Raises CaptureError."""
        within_s = VERSION_WITHIN_S if arguments[0] == "--version" else TIMEOUT_S
        command = [*children.with_devices(), *self.command(), *arguments]
        try:
            done = children.run(command, within_s=within_s, folder=folder)
        except subprocess.TimeoutExpired:
            raise UnreachedError(
                f"{self.title} did not finish within {within_s:g} s and was ended; press the board's black "
                "button (reset) and run again."
            ) from None
        except OSError as error:
            raise CaptureError(
                f"{self.title} cannot be started ({error.strerror or error}); check program in bench.toml."
            ) from None
        return Said(done.returncode, done.stdout, done.stderr)

    def version(self, pattern: re.Pattern[str]) -> str:
        """The first line that `pattern` finds of what it says of itself; "unknown" without."""
        with folder_of({}) as folder:
            return self.run(["--version"], folder).first(pattern) or "unknown"

    def error(self, to: str, why: str, kind: type[CaptureError] = CaptureError) -> CaptureError:
        """That it could not `to` the board, and what to look at."""
        return kind(f"{self.title} cannot {to} the board: {why}; check its USB cable and bench.toml.")

    def failed(
        self, to: str, said: Said, otherwise: str, unreached: re.Pattern[str] | None = None
    ) -> CaptureError:
        """The same, by what it said; `otherwise` where no reason is known. Where `unreached` finds
        a line, the core was not reached.
        """
        probe = f" {self._settings.probe}" if self._settings.probe else ""
        for pattern, words in self.reasons:
            if line := said.first(pattern):
                return self.error(to, words.format(line=line, probe=probe))
        kind = UnreachedError if unreached and said.first(unreached) else CaptureError
        return self.error(to, otherwise.rstrip("."), kind)


@cache
def ways() -> Mapping[str, type[Loader]]:
    """All of them by their kind, in the order of their names; pyOCD, the default, is first."""
    stems = sorted(
        (file.stem for file in LOADERS.glob("[a-z]*.py")), key=lambda stem: (stem != "pyocd", stem)
    )
    return {
        stem.replace("_", "-"): importlib.import_module(f"capture.desk.loaders.{stem}").LOADER
        for stem in sorted(stems, key=lambda stem: (stem != "pyocd", stem))
    }


@contextmanager
def files(elf: Path, image: bytes) -> Iterator[Path]:
    """A folder with the firmware and, if there is one, the operation image. Raises CaptureError."""
    try:
        content = {FIRMWARE: elf.read_bytes()}
    except OSError as error:
        raise CaptureError(f"{elf} cannot be read: {why(error)}.") from None
    with folder_of({**content, OPERATIONS: image} if image else content) as folder:
        yield folder


@contextmanager
def folder_of(content: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with files of these names, for as long as it is in use."""
    with tempfile.TemporaryDirectory(prefix="tailscope-") as name:
        for file, data in content.items():
            (Path(name) / file).write_bytes(data)
        yield Path(name)


def pieces(elf: Path) -> list[tuple[int, bytes]]:
    """Addresses in rising order and the bytes from each on, of all loadable segments that have any.

    Segments that touch are one piece. Raises CaptureError.
    """
    try:
        with elf.open("rb") as file:
            segments = sorted(
                (int(segment["p_paddr"]), bytes(segment.data()))
                for segment in ELFFile(file).iter_segments("PT_LOAD")
                if segment["p_filesz"]
            )
    except OSError as error:
        raise CaptureError(f"{elf} cannot be read: {why(error)}.") from None
    except DAMAGED:
        raise CaptureError(f"{elf} is a damaged ELF file; link it again.") from None
    if not segments:
        raise CaptureError(f"{elf} has nothing to load; link it again.")
    joined: list[tuple[int, bytes]] = []
    for address, content in segments:
        if joined and joined[-1][0] + len(joined[-1][1]) == address:
            address, content = joined[-1][0], joined.pop()[1] + content
        joined.append((address, content))
    return joined
