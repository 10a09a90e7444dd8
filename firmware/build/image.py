"""Builds the firmware of one allocator."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from base import heap_size
from base.files.locks import taking_turns
from base.paths import COMPILED, ROOT
from firmware.build import boards, catalogue, cmake_build, fit, footprint, packaged, search_places
from firmware.build.boards import Board
from firmware.build.cmake_build import BuildError

if TYPE_CHECKING:
    from base.run_folder.manifest import Optimization

FIRMWARE = ROOT / "firmware"
BUILDS = COMPILED / "firmware"

_COMPILERS = ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi")

INSTRUMENTS = ("pins", "dwt", "records")
_KERNEL_CHECKOUT = "FREERTOS_KERNEL_PATH"
"""The environment variable that names one."""
EXTRAS = ("kernel_calls", "urgent_task")

_TROUBLE = re.compile(r"[^/\n]*(?:error: |undefined reference|multiple definition|overflowed by).*")
"""What a compiler or a linker says of an allocator from outside that does not fit."""

_Choices = ParamSpec("_Choices")


@dataclass(frozen=True)
class FirmwareImage:
    """A built ELF file."""

    elf: Path
    sha256: str
    """Digest of the file, lower-case hexadecimal; it depends on the sources, not on their folder.
    """
    configuration: BuildSpec
    """What it was built to be, and must say of itself in its first record."""
    kernel: str
    """FreeRTOS's version."""
    looks: tuple[int, ...]
    """Addresses whose executions are the probes, where the allocator does not count them itself."""

    @property
    def allocator(self) -> str:
        """The allocator's id."""
        return self.configuration.allocator


@dataclass(frozen=True)
class BuildSpec:
    """What an image is built of; the folder's name says what differs from the default.

    `art` is the flash accelerator, `locking` how the heap holds others off, `knobs` all numbers of
    the allocator, `extras` what of EXTRAS its operations may call. `without` leaves out some of
    INSTRUMENTS, to learn what they cost. `heap_bytes` is the size of the region; fit.py says how
    many slots it leaves. `optimization` is GCC's -O: 1, 2, 3 or s.
    """

    allocator: str
    art: bool
    locking: str
    heap_bytes: int
    knobs: Mapping[str, int]
    extras: tuple[str, ...]
    without: tuple[str, ...]
    optimization: Optimization
    board: Board

    @classmethod
    def of(
        cls,
        allocator: str,
        art: bool = True,
        locking: str | None = None,
        knobs: Mapping[str, int] | None = None,
        extras: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
        heap_bytes: int | None = None,
        optimization: Optimization = "2",
        board: str = boards.DEFAULT,
    ) -> BuildSpec:
        """The spec of these choices: None is the default of the allocator on the board, `knobs` are
        those that differ, `board` is the name of a board, or the path of its folder.

        Raises BuildError for what cannot be built, and BoardError.
        """
        row = catalogue.row(allocator, BuildError)
        on = boards.named(board)
        if locking is not None and locking not in row.lockings:
            raise BuildError(
                f"{row.id} does not work under {locking!r} locking: choose {' or '.join(row.lockings)}."
            )
        lock = locking or on.default_lock(row.lockings)
        row.check_knobs(knobs or {}, BuildError)
        heap_bytes = on.memory.heap_bytes if heap_bytes is None else heap_bytes
        if range_ := heap_size.refused(heap_bytes, fit.largest_heap_bytes(1, on.memory.sram_bytes)):
            raise BuildError(f"A heap of {heap_bytes:,} bytes cannot be built for {on.title}: give {range_}.")
        for refusal in (row.missing_checkout(), on.lock_refused(lock), row.objection(heap_bytes)):
            if refusal:
                raise BuildError(refusal)
        return cls(
            allocator,
            art,
            lock,
            heap_bytes,
            {**row.knobs, **(knobs or {})},
            extras,
            without,
            optimization,
            on,
        )

    @property
    def flash_acr(self) -> int:
        """FLASH_ACR as the firmware sets it."""
        return self.board.flash_acr(self.art)

    @property
    def row(self) -> catalogue.Allocator:
        """The row of the allocator in the catalogue."""
        return catalogue.allocators()[self.allocator]

    @property
    def other_lock(self) -> tuple[str, ...]:
        """The lock, if it is not the allocator's default on the board."""
        return () if self.locking == self.board.default_lock(self.row.lockings) else (self.locking,)

    @property
    def other_optimization(self) -> tuple[str, ...]:
        """`O3` and the like, if it is not the usual one."""
        return () if self.optimization == "2" else (f"O{self.optimization}",)

    @property
    def turned_knobs(self) -> tuple[str, ...]:
        """`NAME=VALUE` of each knob that differs from the default."""
        knobs = sorted(self.knobs.items())
        return tuple(f"{name}={value}" for name, value in knobs if value != self.row.knobs[name])

    @property
    def name(self) -> str:
        """What differs from the default, below the board's name where it is not the default's."""
        other_heap = self.heap_bytes != self.board.memory.heap_bytes
        words = [self.row.build_name, *["art-off"] * (not self.art), *self.other_lock]
        words += [*[f"heap={self.heap_bytes}"] * other_heap, *self.turned_knobs]
        words += (extra.replace("_", "-") for extra in self.extras)
        words += (f"without-{instrument}" for instrument in self.without)
        name = "-".join([*words, *self.other_optimization])
        return name if self.board.name == boards.DEFAULT else f"{self.board.name}/{name}"

    @property
    def folder(self) -> Path:
        """The folder of the build."""
        return BUILDS / self.name


_MADE: dict[str, FirmwareImage] = {}
"""What this process has built, by where it lies and all that its spec has."""


def allocators() -> tuple[str, ...]:
    """Names of the allocators that can be linked here, sorted; a
    missing checkout leaves one out.
    """
    return tuple(name for name, row in catalogue.allocators().items() if row.missing_checkout() is None)


def make(spec: BuildSpec, *, compiled: bool = False) -> FirmwareImage:
    """Builds the firmware of a spec.

    An installed package brings the usual images, which need no compiler; `compiled` is for whoever
    needs the folder of the build as well.

    A process builds an image once, since asking CMake whether there is anything to do takes longer
    than some runs. Of several processes that build the same one, one builds and the others wait.
    Raises BuildError, and WriteError where the folder cannot be made.
    """
    described = _cmake_build(spec)
    if not compiled and (ready := packaged.find(spec.name, described.definitions)):
        return FirmwareImage(configuration=spec, **ready)
    described.check_tools(*_COMPILERS, *(() if _checkout(_KERNEL_CHECKOUT) else (cmake_build.CARGO,)))
    key = repr(described)
    if key not in _MADE or not _MADE[key].elf.exists():
        with taking_turns(spec.folder):
            _MADE[key] = _made(spec, described)
    return _MADE[key]


def _making(spec_of: Callable[_Choices, BuildSpec]) -> Callable[_Choices, FirmwareImage]:
    return lambda *choices, **named: make(spec_of(*choices, **named))


build = _making(BuildSpec.of)
"""Builds the firmware of the spec that BuildSpec.of() makes of the same words, as make() does."""


def _made(spec: BuildSpec, described: cmake_build.Build) -> FirmwareImage:
    row = spec.row
    try:
        described.make()
    except BuildError as error:
        trouble = _TROUBLE.search(str(error)) if row.source else None
        if trouble is None:
            raise
        raise BuildError(f"{row.id} cannot be built for the firmware: {trouble[0].strip()}") from None
    in_heap, _, smallest_block = footprint.overhead(spec.folder / packaged.FOOTPRINT)
    least = in_heap + smallest_block
    if spec.heap_bytes < least:  # some allocators would set up their lists outside of the region
        raise BuildError(
            f"{spec.allocator} serves nothing from a heap of {spec.heap_bytes:,} bytes: "
            f"its own structures and its smallest block take {least:,}."
        )
    elf = spec.folder / packaged.ELF
    digest = hashlib.sha256(elf.read_bytes()).hexdigest()
    cache = (spec.folder / "CMakeCache.txt").read_text(encoding="utf-8")
    kernel = re.findall(r"^TAILSCOPE_KERNEL_VERSION:\w+=(.*)$", cache, re.MULTILINE)[0]
    return FirmwareImage(elf, digest, spec, kernel, looks(row, elf))


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


def _cmake_build(spec: BuildSpec) -> cmake_build.Build:
    row = spec.row
    choices = {
        "BOARD": spec.board.word,
        "ART": "on" if spec.art else "off",
        "LOCKING": spec.locking,
        "HEAP_BYTES": spec.heap_bytes,
        "SLOTS": fit.slots_beside(spec.heap_bytes, spec.board.memory.sram_bytes),
        **{f"WITHOUT_{name.upper()}": _on(name in spec.without) for name in INSTRUMENTS},
        **{name.upper(): _on(name in spec.extras) for name in EXTRAS},
        "OPTIMIZATION": spec.optimization,
        **dict(sorted(spec.knobs.items())),
    }
    checkouts = [_KERNEL_CHECKOUT, *([row.checkout] if row.checkout else [])]
    definitions = row.definitions(choices) | {name: _checkout(name) for name in checkouts}
    return cmake_build.Build(
        f"The firmware with {spec.allocator}", FIRMWARE, spec.folder, definitions, packaged.ELF
    )


def _on(condition: bool) -> str:
    return "ON" if condition else "OFF"


def package(folder: Path, spec: BuildSpec) -> FirmwareImage:
    """Builds the image of a spec and puts what is said of it below `folder`. Raises BuildError."""
    built = make(spec, compiled=True)
    definitions = _cmake_build(spec).definitions
    packaged.write(folder / spec.name, definitions, built.sha256, built.kernel, built.looks)
    return built


def build_wiring(on: Board) -> Path:
    """The ELF file that `./lab wiring check` loads on a board. Raises BuildError."""
    folder = BUILDS / ("" if on.name == boards.DEFAULT else on.name) / "wiring"
    definitions = {"TAILSCOPE_BOARD": on.word}
    described = cmake_build.Build("The wiring firmware", FIRMWARE / "wiring", folder, definitions)
    described.check_tools(*_COMPILERS)
    with taking_turns(folder):
        described.make()
    return folder / "wiring.elf"
