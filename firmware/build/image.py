"""Builds the firmware of one allocator."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from base import heap_size
from base.files.errors import near_miss
from base.files.turns import taking_turns
from base.paths import COMPILED, ROOT
from firmware.build import boards, catalogue, cmake_build, packaged, region, search_places
from firmware.build.boards import Board
from firmware.build.cmake_build import BuildError as BuildError

FIRMWARE = ROOT / "firmware"
BUILDS = COMPILED / "firmware"

TOOLS = {**cmake_build.TOOLS, "arm-none-eabi-gcc": "gcc-arm-none-eabi and libnewlib-arm-none-eabi"}

INSTRUMENTS = ("pins", "dwt", "records")
EXTRAS = ("kernel_calls", "urgent_task")


@dataclass(frozen=True)
class Configuration:
    """What an image was built to be, and must say of itself in its first record."""

    heap_bytes: int
    kernel: str
    flash_acr: int
    locking: str
    knobs: Mapping[str, int]
    board: str = boards.DEFAULT
    """The board's folder, by its name, or its path where it is none of the bench's."""

    @property
    def core_hz(self) -> int:
        """The core's clock on that board."""
        return boards.board(self.board).core_hz


@dataclass(frozen=True)
class FirmwareImage:
    """A built ELF file."""

    elf: Path
    sha256: str
    """Digest of the file, lower-case hexadecimal; it depends on the sources, not on their folder.
    """
    allocator: str
    configuration: Configuration
    looks: tuple[int, ...] = ()
    """Addresses whose executions are the probes, where the allocator does not count them itself."""


@dataclass(frozen=True)
class _Build:
    """What is chosen at the build; the folder's name says what differs from the default."""

    allocator: str
    art: bool
    locking: str
    heap_bytes: int = heap_size.DEFAULT_BYTES
    knobs: Mapping[str, int] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    optimization: str = "2"
    board: Board = field(default_factory=boards.default)

    @property
    def folder(self) -> Path:
        row = catalogue.allocators()[self.allocator]
        words = [row.build_name]
        words += [] if self.art else ["art-off"]
        words += [] if self.locking == self.board.default_lock(row.lockings) else [self.locking]
        words += [] if self.heap_bytes == self.board.memory.heap_bytes else [f"heap={self.heap_bytes}"]
        words += [f"{name}={value}" for name, value in sorted(self.knobs.items()) if value != row.knobs[name]]
        words += [extra.replace("_", "-") for extra in self.extras]
        words += [f"without-{instrument}" for instrument in self.without]
        words += [] if self.optimization == "2" else [f"O{self.optimization}"]
        name = "-".join(words)
        return BUILDS / name if self.board.name == boards.DEFAULT else BUILDS / self.board.name / name


_MADE: dict[tuple[str, ...], FirmwareImage] = {}
"""What this process has built, by where it lies and all that was chosen."""


def allocators() -> tuple[str, ...]:
    """Names of the allocators that can be linked here, sorted; a
    missing checkout leaves one out.
    """
    return tuple(name for name, row in catalogue.allocators().items() if row.missing_checkout() is None)


def build(
    allocator: str,
    art: bool = True,
    locking: str | None = None,
    knobs: Mapping[str, int] | None = None,
    extras: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    heap_bytes: int | None = None,
    optimization: str = "2",
    compiled: bool = False,
    board: str = boards.DEFAULT,
) -> FirmwareImage:
    """Builds the firmware with `allocator`; `art` is the flash accelerator, `locking` how the heap
    holds others off (None: the allocator's default), `knobs` its numbers where they differ,
    `extras` what of EXTRAS its operations may call; `without` leaves out some of INSTRUMENTS, to
    learn what they cost. `heap_bytes` is the size of the region (None: the board's own); region.py
    says how many slots it leaves. `optimization` is GCC's -O: 1, 2, 3 or s. `board` is the name of
    a board, or the path of its folder.

    An installed package brings the usual images, which need no compiler; `compiled` is for whoever
    needs the folder of the build as well.

    A process builds an image once, since asking CMake whether there is anything to do takes longer
    than some runs. Of several processes that build the same one, one builds and the others wait.
    Raises BuildError, BoardError, and WriteError where the folder cannot be made.
    """
    _check_allocator(allocator)
    row = catalogue.allocators()[allocator]
    on = boards.named(board)
    heap_bytes = on.memory.heap_bytes if heap_bytes is None else heap_bytes
    _check_locking(row, locking, on)
    row.check_knobs(knobs or {}, BuildError)
    _check_heap(row, heap_bytes, on)
    chosen = _Build(
        allocator,
        art,
        locking or on.default_lock(row.lockings),
        heap_bytes,
        {**row.knobs, **(knobs or {})},
        extras,
        without,
        optimization,
        on,
    )
    described = _cmake_build(chosen)
    if not compiled and (told := packaged.find(chosen.folder.name, described.definitions)):
        configuration = _configuration(chosen, told["kernel"])
        return FirmwareImage(told["elf"], told["sha256"], row.id, configuration, tuple(told["looks"]))
    cmake_build.check_tools(TOOLS)
    key = (str(described.source), str(chosen.folder), *map(str, described.definitions.items()))
    image = _MADE.get(key)
    if image is None or not image.elf.exists():
        with taking_turns(chosen.folder):
            image = _MADE[key] = _made(row, chosen, described)
    return image


def _made(row: catalogue.Allocator, chosen: _Build, described: cmake_build.Build) -> FirmwareImage:
    try:
        described.make()
    except BuildError as error:
        raise BuildError(_without_listing(row, chosen, str(error))) from None
    _check_overhead(chosen)
    elf = chosen.folder / packaged.ELF
    digest = hashlib.sha256(elf.read_bytes()).hexdigest()
    configuration = _configuration(chosen, _kernel(chosen.folder))
    return FirmwareImage(elf, digest, row.id, configuration, looks(row, elf))


def _without_listing(row: catalogue.Allocator, chosen: _Build, said: str) -> str:
    """Of an allocator from outside one sentence, where the reason is known; else all of it."""
    if row.source is None:
        return said
    if overflow := re.search(r"region `SRAM' overflowed by ([0-9]+) bytes", said):
        return (
            f"{row.id} takes {int(overflow[1]):,} bytes of static RAM more than the board has beside a heap "
            f"of {chosen.heap_bytes:,}: take the memory from the region, or give a smaller --heap."
        )
    if undefined := re.search(r"undefined reference to [`'](\w+)'", said):
        return f"{row.id} needs {undefined[1]}, which the bench's firmware does not define: define it."
    if error := re.search(r"(?:^|/)([^/\n:]+:[0-9]+):[0-9]+: (?:fatal )?error: (.*)$", said, re.MULTILINE):
        return f"{row.id} does not compile for the firmware: {error[1]}: {error[2]}"
    return said


def _check_heap(row: catalogue.Allocator, heap_bytes: int, board: Board) -> None:
    if range_ := heap_size.refused(heap_bytes, region.largest_heap_bytes(1, board.memory.sram_bytes)):
        raise BuildError(f"A heap of {heap_bytes:,} bytes cannot be built for {board.title}: give {range_}.")
    if refusal := row.objection(heap_bytes):
        raise BuildError(refusal)


def _check_overhead(chosen: _Build) -> None:
    """Raises BuildError where the region does not even hold one block: some allocators would set up
    their lists outside of it.
    """
    taken = region.read(chosen.folder / packaged.FOOTPRINT)
    least = taken.heap + taken.smallest_block
    if chosen.heap_bytes < least:
        raise BuildError(
            f"{chosen.allocator} serves nothing from a heap of {chosen.heap_bytes:,} bytes: "
            f"its own structures and its smallest block take {least:,}."
        )


def _kernel(folder: Path) -> str:
    """The version of FreeRTOS that CMake found."""
    cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8")
    entries: dict[str, str] = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))
    return entries["TAILSCOPE_KERNEL_VERSION"]


def _configuration(chosen: _Build, kernel: str) -> Configuration:
    return Configuration(
        heap_bytes=chosen.heap_bytes,
        kernel=kernel,
        flash_acr=chosen.board.flash_acr(chosen.art),
        locking=chosen.locking,
        knobs=dict(chosen.knobs),
        board=chosen.board.word,
    )


def looks(row: catalogue.Allocator, elf: Path) -> tuple[int, ...]:
    """The addresses of FirmwareImage.looks in `elf`, which lies in its build folder.

    Raises BuildError.
    """
    try:
        return search_places.find(elf, row.search or (), row.source.folder if row.source else None)
    except search_places.SearchError as error:
        raise BuildError(f"The search of {row.id} cannot be counted: {error}") from None


def _checkout(variable: str) -> str:
    """The absolute path of the user's checkout that an environment
    variable names, or an empty one.
    """
    chosen = os.environ.get(variable, "")
    return str(Path(chosen).resolve()) if chosen else ""


def _cmake_build(chosen: _Build) -> cmake_build.Build:
    row = catalogue.allocators()[chosen.allocator]
    checkout = row.checkout
    definitions = {
        **row.definitions,
        "TAILSCOPE_BOARD": chosen.board.word,
        "TAILSCOPE_ART": "on" if chosen.art else "off",
        "TAILSCOPE_LOCKING": chosen.locking,
        "TAILSCOPE_HEAP_BYTES": chosen.heap_bytes,
        "TAILSCOPE_SLOTS": region.slots_beside(chosen.heap_bytes, chosen.board.memory.sram_bytes),
        **{f"TAILSCOPE_WITHOUT_{name.upper()}": _on(name in chosen.without) for name in INSTRUMENTS},
        **{f"TAILSCOPE_{name.upper()}": _on(name in chosen.extras) for name in EXTRAS},
        "TAILSCOPE_OPTIMIZATION": chosen.optimization,
        **{f"TAILSCOPE_{name}": value for name, value in sorted(chosen.knobs.items())},
        "FREERTOS_KERNEL_PATH": _checkout("FREERTOS_KERNEL_PATH"),
        **({checkout: _checkout(checkout)} if checkout else {}),
    }
    return cmake_build.Build(f"The firmware with {chosen.allocator}", FIRMWARE, chosen.folder, definitions)


def _on(condition: bool) -> str:
    return "ON" if condition else "OFF"


def _check_allocator(allocator: str) -> None:
    row = catalogue.allocators().get(allocator)
    if row is None:
        known = ", ".join(allocators())
        raise BuildError(
            f"There is no allocator {allocator!r}: choose one of {known}.{near_miss(allocator, allocators())}"
        )
    if missing := row.missing_checkout():
        raise BuildError(missing)


def _check_locking(row: catalogue.Allocator, locking: str | None, board: Board) -> None:
    if locking is not None and locking not in row.lockings:
        raise BuildError(
            f"{row.id} does not work under {locking!r} locking: choose {' or '.join(row.lockings)}."
        )
    if refusal := board.lock_refused(locking or board.default_lock(row.lockings)):
        raise BuildError(refusal)


def package(folder: Path, allocator: str, art: bool, extras: tuple[str, ...]) -> FirmwareImage:
    """Builds an image at the usual settings and puts it below `folder`. Raises BuildError."""
    built = build(allocator, art=art, extras=extras, compiled=True)
    row = catalogue.allocators()[allocator]
    chosen = _Build(allocator, art, row.lockings[0], knobs=row.knobs, extras=extras)
    definitions = _cmake_build(chosen).definitions
    kernel = built.configuration.kernel
    packaged.write(folder, definitions, built.elf.parent, built.sha256, kernel, built.looks)
    return built


SOURCE = ROOT / "firmware" / "wiring"
_FOLDER = BUILDS / "wiring"


def build_wiring(board: Board | None = None) -> Path:
    """The ELF file that `./lab wiring check` loads on a board. Raises BuildError."""
    on = board or boards.default()
    folder = _FOLDER if on.name == boards.DEFAULT else BUILDS / on.name / _FOLDER.name
    cmake_build.check_tools(TOOLS)
    described = cmake_build.Build("The wiring firmware", SOURCE, folder, {"TAILSCOPE_BOARD": on.word})
    with taking_turns(folder):
        described.make()
    return folder / "wiring.elf"
