"""A program that loads a board: found, run in a folder of its own, bounded in time, and heard.

Its exit status alone is never believed: what it says must tell that it did all that was asked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.files.errors import CaptureError
from base.files.whole import why
from base.processes import children
from capture.desk.loading import Settings, UnreachedError

TIMEOUT_S = 120.0
VERSION_WITHIN_S = 20.0

FIRMWARE, OPERATIONS = "firmware.elf", "operations.bin"
"""Names that no shell, script or command language divides, whatever the user's files are called."""


@dataclass(frozen=True)
class Said:
    """What a tool said, on both of its streams, and the status it ended with."""

    status: int
    text: str

    @property
    def lines(self) -> list[str]:
        """Without those that are empty."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]

    def first(self, *patterns: re.Pattern[str]) -> str:
        """The first line that one of the patterns, which are tried in this order, finds."""
        return next((line for pattern in patterns for line in self.lines if pattern.search(line)), "")


@dataclass(frozen=True)
class Tool:
    """The program `command` of bench.toml's settings, called `title` in sentences."""

    title: str
    command: str
    get: str
    settings: Settings

    def path(self) -> str:
        """The path of the program. Raises CaptureError."""
        program = shutil.which(self.settings.program or self.command)
        if program is None:
            where = self.settings.program or f"{self.command} on PATH"
            raise CaptureError(f"{self.title} is not there ({where}): {self.get}.")
        return program

    def run(self, arguments: Sequence[str], folder: Path, within_s: float | None = None) -> Said:
        """Runs it in `folder`, at most `within_s` (None: TIMEOUT_S). Raises CaptureError."""
        command = [*children.with_devices(), self.path(), *arguments]
        within_s = TIMEOUT_S if within_s is None else within_s
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
        return Said(done.returncode, f"{done.stdout}\n{done.stderr}")

    def version(self, argument: str, pattern: re.Pattern[str]) -> str:
        """The first line that `pattern` finds of what it says; "unknown" where none is."""
        with folder_of({}) as folder:
            said = self.run([argument], folder, VERSION_WITHIN_S)
        return said.first(pattern) or "unknown"

    def failed(self, to: str, why: str, kind: type[CaptureError] = CaptureError) -> CaptureError:
        """That it could not `to` the board, and what to look at."""
        return kind(f"{self.title} cannot {to} the board: {why}; check its USB cable and bench.toml.")


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
            segments = [
                (int(segment["p_paddr"]), bytes(segment.data()))
                for segment in ELFFile(file).iter_segments("PT_LOAD")
                if segment["p_filesz"]
            ]
    except OSError as error:
        raise CaptureError(f"{elf} cannot be read: {why(error)}.") from None
    except DAMAGED:
        raise CaptureError(f"{elf} is a damaged ELF file; link it again.") from None
    if not segments:
        raise CaptureError(f"{elf} has nothing to load; link it again.")
    return _joined(sorted(segments))


def _joined(segments: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    joined: list[tuple[int, bytes]] = []
    for address, content in segments:
        if joined and joined[-1][0] + len(joined[-1][1]) == address:
            joined[-1] = joined[-1][0], joined[-1][1] + content
        else:
            joined.append((address, content))
    return joined
