"""What is known of a run of operations beside what was observed of it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from base.run_folder.manifest import AllocatorFootprint, AskedFirmware, Imported, Outside, SectionBound
from base.run_folder.memory import Memory
from base.run_folder.records import Boot, RecordLog
from firmware.build import catalogue, cmake_build, footprint
from firmware.build.footprint import FootprintError
from firmware.build.image import FirmwareImage
from scenarios.plan import Plan


@dataclass(frozen=True)
class Setting:
    """What only the bench knows: names as in bench.toml, the firmware's digest, the tools."""

    allocator: str
    board: str
    analyzer: str
    elf_sha256: str
    tools: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, SectionBound] = field(default_factory=dict)
    """Of the critical sections, from the machine code. Empty where nobody asked for them."""
    memory: Memory | None = None
    """Where the blocks lay. None where nobody asked."""
    footprint: AllocatorFootprint | None = None
    """What the allocator takes of flash and RAM. None where nobody measured it."""
    imported: Imported | None = None
    """The file of another tool that the capture is from."""
    notes: tuple[str, ...] = ()
    """Warnings on what was stored: sentences."""
    ignore_glitches: bool = False
    """Whether pulses that are too short to be the firmware's are left out."""


@dataclass(frozen=True)
class Account:
    """The plan, the firmware that was asked for, and the bench's own knowledge.

    `bounds` and `memory` find what only the run's records make known; None where it is in the
    setting already, or nobody asked.
    """

    plan: Plan
    asked: AskedFirmware
    setting: Setting
    bounds: Callable[[Boot], Mapping[str, SectionBound]] | None = None
    memory: Callable[[RecordLog], Memory | None] | None = None


def asked_of(image: FirmwareImage) -> AskedFirmware:
    """What the firmware must say of itself."""
    built = image.configuration
    return AskedFirmware(
        allocator=image.allocator,
        heap_bytes=built.heap_bytes,
        core_hz=built.core_hz,
        kernel=built.kernel,
        flash_acr=f"{built.flash_acr:08X}",
        locking=built.locking,
        knobs=dict(built.knobs),
        outside=outside_of(image.allocator),
        board=built.board,
        optimization=built.optimization,
    )


def outside_of(allocator: str) -> Outside | None:
    """What a run keeps of an allocator's file and table; None of one of the catalogue."""
    row = catalogue.allocators()[allocator]
    source = row.source
    if source is None:
        return None
    return Outside(
        file=str(source.file),
        format=source.format,
        sha256=source.sha256,
        promises=sorted(row.promises),
        knobs=dict(row.knobs),
        searches=row.search != (),
    )


def setting_of(image: FirmwareImage, board: str, analyzer: str, tools: Mapping[str, str]) -> Setting:
    """What only the bench knows of a run of `image`; `tools` are those beside compiler and Python.

    An image whose footprint cannot be read has none, and a warning that says why.
    """
    taken: AllocatorFootprint | None = None
    notes: tuple[str, ...] = ()
    try:
        taken = _footprint(image)
    except FootprintError as error:
        notes = (str(error),)
    return Setting(
        allocator=image.allocator,
        board=board,
        analyzer=analyzer,
        elf_sha256=image.sha256,
        footprint=taken,
        tools={
            **tools,
            "compiler": cmake_build.of_image(image.elf),
            "python": platform.python_version(),
        },
        notes=notes,
    )


def _footprint(image: FirmwareImage) -> AllocatorFootprint:
    taken = footprint.of_image(image)
    return AllocatorFootprint(
        flash_bytes=taken.flash,
        static_ram_bytes=taken.static_ram,
        heap_overhead_bytes=taken.heap_overhead,
        block_overhead_bytes=taken.block_overhead,
        smallest_block_bytes=taken.smallest_block,
    )
