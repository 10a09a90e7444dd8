"""The allocators on this machine, over regions of any size:
builds and calls heap/host/trace_replay.

They are the sources that the firmware links, built for 32 bits. Some have constants that depend on
the largest region: lists of a TLSF, levels of a buddy system. So each region is run on a build for
the smallest power of two that holds it, at least the 64 KiB of the board.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from elftools.elf.sections import SymbolTableSection

from base import heap_size
from base.files import elf as elf_files
from base.files.errors import TailscopeError
from base.files.whole import write_bytes
from base.paths import COMPILED, ROOT
from base.processes import children
from firmware.build import catalogue, footprint, packaged
from firmware.build.catalogue import Allocator
from firmware.build.cmake_build import Build

OPERATION_BYTES = 16
"""Of each operation in a file that write() wrote."""

NOTHING_TO_FREE = 255
UNKNOWN = 0xFFFF_FFFF
"""A largest free block that the allocator cannot tell (ALLOCATOR_UNKNOWN of heap/allocator.h)."""
SKIPPED = 254
"""The status of a free whose allocation had failed, and of
an operation that did not run. Others are heap_status of heap.h; 0 is served.
"""

# Of each operation in what trace_replay writes, and first of the heap.
_WORDS = 6

_HOST = ROOT / "firmware" / "heap" / "host"
BUILDS = COMPILED / "heap-host"
_WITHIN_S = 3600.0
_OUTSIDE_WITHIN_S = 120.0
"""Of an allocator from outside: it may never return."""
# The lists that a larger region needs. They change nothing in a smaller one but the static RAM.
_OCTAVES_ABOVE_1_MIB = {"TLSF_OCTAVES": 17}


class HostHeapError(TailscopeError):
    """An allocator cannot be built for this machine or run over a region; the message says why."""


class Replay(NamedTuple):
    """What came of each operation of a trace, in order.

    `begin` and `end` are where its block lies (of a free: lay), in bytes from the region's
    beginning, header and slack included; 0 where there is none. `largest_free` is the largest free
    block after an allocation or reallocation, header included, in bytes; 0 behind a free. `probes`
    is what the search looked at, as in the firmware's records. `usable` is what the payload can
    hold (of a free: held).
    """

    region_overhead_bytes: int
    """What no block can use of the fresh region."""
    block_overhead_bytes: int
    """Beside each payload."""
    free_blocks_at_start: int
    free_bytes_at_start: int
    status: npt.NDArray[np.uint32]
    begin: npt.NDArray[np.uint32]
    end: npt.NDArray[np.uint32]
    largest_free: npt.NDArray[np.uint32]
    probes: npt.NDArray[np.uint32]
    usable: npt.NDArray[np.uint32]


def objection(allocator: str, heap_bytes: int) -> str | None:
    """Why the allocator cannot run over such a region here, in one sentence; None if it can.

    Raises HostHeapError for an unknown allocator and for a size that is no region's.
    """
    if range_ := heap_size.refused(heap_bytes):
        raise HostHeapError(f"A heap of {heap_bytes:,} bytes cannot be replayed: give {range_}.")
    entry = catalogue.row(allocator, HostHeapError)
    if entry.source and entry.source.no_host:
        return f"{allocator} does not build for this machine: {entry.source.no_host}"
    if entry.target_only:
        return f"{allocator} comes compiled for the target, so there is no host build of it."
    return entry.missing_checkout() or entry.objection(heap_bytes)


def able(allocator: str, heap_bytes: int) -> Allocator:
    """The allocator's row. Raises HostHeapError where it cannot run over such a region here."""
    if refusal := objection(allocator, heap_bytes):
        raise HostHeapError(refusal)
    return catalogue.row(allocator, HostHeapError)


def largest_bytes(allocator: str) -> int:
    """The largest region that the allocator can have on this machine."""
    largest = catalogue.row(allocator, HostHeapError).largest_region_bytes
    return min(largest or heap_size.LARGEST_BYTES, heap_size.LARGEST_BYTES)


def capacity_bytes(heap_bytes: int) -> int:
    """What the build is made for that runs a region of this size: a power of two."""
    return max(heap_size.DEFAULT_BYTES, 1 << (heap_bytes - 1).bit_length())


def build(
    allocator: str,
    heap_bytes: int,
    knobs: Mapping[str, int] | None = None,
    address: int | None = None,
    static: bool = False,
) -> Path:
    """The program for a region of this size, built if it is not there, or as a package brings it.

    With `address` the region begins there, and all constants are those of this size: as in a
    firmware, whose heap this one then is to the byte. `static` is without shared libraries, for
    other machines. Raises HostHeapError, BuildError, PackagedError, WriteError.
    """
    entry = able(allocator, heap_bytes)
    capacity = capacity_bytes(heap_bytes) if address is None else heap_bytes
    turned = knobs or {}
    entry.check_knobs(turned, HostHeapError)
    larger = _OCTAVES_ABOVE_1_MIB if capacity > 1 << 20 else {}
    chosen = {name: {**larger, **turned}.get(name, default) for name, default in entry.knobs.items()}
    place = {} if address is None else {"REGION_ADDRESS": f"{address:#x}"}
    values = (f"{name}={value}" for name, value in sorted(turned.items()))
    name = "-".join([entry.build_name, str(capacity), *values, *place.values()])
    folder = None if static else packaged.host_program(name)
    if folder is None:
        folder = BUILDS / ("static" if static else "") / name
        named = entry.definitions({"HEAP_BYTES": capacity, **place, **chosen})
        if static:
            named["CMAKE_EXE_LINKER_FLAGS"] = "-static -Wl,--strip-debug"
        Build(f"The host's build of {allocator}", _HOST, folder, named, "trace_replay").make_once()
    return folder / "trace_replay"


def static_ram_bytes(program: Path) -> int:
    """What the allocator's variables take beside the region, from a program that build() returned.

    Alignment between them is left out. Raises HostHeapError.
    """
    with elf_files.opened(program.with_name("footprint"), HostHeapError) as elf:
        sections = enumerate(elf.iter_sections())
        ram_sections = {number for number, section in sections if section.name in footprint.STATIC_RAM}
        symbols = elf.get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        return sum(
            symbol["st_size"]
            for symbol in symbols.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_shndx"] in ram_sections
        )


def write(operations: npt.NDArray[np.uint32], path: Path) -> Path:
    """Writes operations, of shape (n, 4) as heap/host/trace.h has them. Raises WriteError."""
    return write_bytes(path, np.ascontiguousarray(operations, dtype="<u4").tobytes())


def run(program: Path, operations: Path, heap_bytes: int) -> Replay:
    """Replays a file of operations over a region. Raises HostHeapError."""
    output = operations.with_name(f"{operations.name}.{program.parent.name}.{heap_bytes}")
    try:
        _call(program, "run", operations, heap_bytes, output)
        words = np.fromfile(output, dtype="<u4").reshape(-1, _WORDS)
    finally:
        output.unlink(missing_ok=True)
    overhead, beside, _, free_blocks, free_bytes, _ = words[0].tolist()
    return Replay(overhead, beside, free_blocks, free_bytes, *words[1:].T.copy())


def serve(program: Path, operations: Path, first: int, last: int, *, stop: bool) -> list[bool]:
    """Whether regions of `first`, first + 8 … `last` bytes serve every allocation.

    With `stop` the list ends behind the first that does. Raises HostHeapError.
    """
    said = _call(program, "serve", operations, first, last, "first" if stop else "all")
    return [letter == "1" for letter in said]


def count(program: Path, operations: Path, heap_bytes: int) -> int:
    """Instructions of this machine that the last operation of a file takes in the allocator, after
    all others; it must be a plain allocation or a free. Raises HostHeapError.
    """
    return int(_call(program, "count", operations, heap_bytes))


def call(program: Path, *words: object, cannot: str, within_s: float) -> str:
    """What a program prints. Raises HostHeapError, which begins with `cannot` where it fails."""
    try:
        done = children.run([program, *map(str, words)], within_s=within_s)
    except subprocess.TimeoutExpired:
        raise HostHeapError(f"{cannot}: it did not end within {within_s:g} s.") from None
    except OSError as error:
        raise HostHeapError(f"{program} did not run: {error}.") from None
    if done.returncode != 0:
        said = done.stderr.strip() or f"it ended with status {done.returncode}."
        raise HostHeapError(f"{cannot}: {said}")
    return done.stdout


def _call(program: Path, *words: object) -> str:
    cannot = f"{program.parent.name} cannot be replayed"
    from_outside = "@" in program.parent.name  # by Allocator.build_name
    return call(program, *words, cannot=cannot, within_s=_OUTSIDE_WITHIN_S if from_outside else _WITHIN_S)
