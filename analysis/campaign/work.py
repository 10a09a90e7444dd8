"""What a worker does: one run, of which the tables and a row come back."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from analysis.bounds.image import bounds_of
from analysis.campaign import verification
from analysis.campaign.order import BOARD, RECORDS, Order, Replayer, ShippedImage, digest
from analysis.campaign.rows import DIFFERS, failed_row, row_of
from analysis.fragmentation.of_run import memory_by
from base.files.errors import TailscopeError
from base.files.whole import write_bytes
from base.processes import children
from base.run_folder import folder as names
from base.run_folder.manifest import Manifest, SectionBound, read_manifest
from base.run_folder.memory import Memory, with_memory
from base.run_folder.records import Boot
from base.run_folder.tables import write_table
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import MemoryOf, RunRequest
from capture.conduct import find
from capture.conduct import run as conduct
from capture.summary.summary import summarise_run
from firmware.build import catalogue
from firmware.build.image import FirmwareImage

_STARTS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt: its row, and the bytes of each table, with their SHA-256.

    `differing` has both run folders, as verification.packed() has them, where a direct run is not
    what the real tools bring.
    """

    key: str
    row: dict[str, Any]
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)
    digests: dict[str, str] = field(default_factory=dict)
    differing: bytes = field(default=b"", repr=False)


def run(order: Order, image: ShippedImage, scratch: Path, program: Path | None = None) -> Outcome:
    """Makes the run of `order`; what it needs a folder for is below `scratch`, and goes again.

    `program` stands in for the simulator of a direct run. What a user can mend is a failed row;
    nothing is raised for it.
    """
    try:
        if order.bench != digest():
            raise TailscopeError(
                "The worker's checkout is another than that of the campaign; give it the same sources."
            )
        return _run(order, _unpacked(image, scratch), _memory(image.replayer, scratch), scratch, program)
    except TailscopeError as error:
        return Outcome(order.key, failed_row(order.key, order.point, str(error)))


@dataclass(frozen=True)
class _Made:
    """What is kept of a run."""

    manifest: Manifest
    operations: pl.DataFrame
    interrupts: pl.DataFrame


def _run(
    order: Order, image: FirmwareImage, memory: MemoryOf, scratch: Path, program: Path | None
) -> Outcome:
    request = RunRequest(
        order.plan, image, BOARD, order.samplerate_hz, records=RECORDS, bounds=_bounds, memory=memory
    )
    if order.capture == "direct" and not order.verify:
        return _outcome(order, _found(Direct(request, program)))
    with tempfile.TemporaryDirectory(prefix="run-", dir=scratch) as name:
        request = replace(request, runs=Path(name))
        first = Direct(request, program) if order.capture == "direct" else Sigrok(request)
        folder = conduct(first).folder
        if order.verify:
            real = conduct(Sigrok(request)).folder
            found = verification.difference(real, folder)
            if found is not None:
                row = {**failed_row(order.key, order.point, found), "state": DIFFERS}
                return Outcome(order.key, row, differing=verification.packed(real, folder))
        return _outcome(order, _stored(folder))


def _found(source: Direct) -> _Made:
    """A direct run that nobody compares: it needs no folder."""
    found = find(source)
    joined = found.evidence.joined
    return _Made(
        summarise_run(found.evidence, found.setting),
        with_memory(joined.operations, found.setting.memory),
        joined.interrupts,
    )


def _stored(folder: Path) -> _Made:
    return _Made(
        read_manifest(folder / names.MANIFEST),
        pl.read_parquet(folder / names.OPERATIONS),
        pl.read_parquet(folder / names.INTERRUPTS),
    )


def _outcome(order: Order, made: _Made) -> Outcome:
    tables = {"operations": made.operations, "interrupts": made.interrupts}
    packed = {what: _packed(order.key, table) for what, table in tables.items()}
    digests = {what: hashlib.sha256(content).hexdigest() for what, content in packed.items()}
    verified = order.verify if order.capture == "direct" else None
    return Outcome(order.key, row_of(order.key, made.manifest, verified), packed, digests)


def _packed(key: str, table: pl.DataFrame) -> bytes:
    """The bytes of a table with the key of its run in front."""
    held = BytesIO()
    write_table(held, table.select(pl.lit(key).alias("key"), pl.all()))
    return held.getvalue()


def _unpacked(image: ShippedImage, scratch: Path) -> FirmwareImage:
    """The image as files, which are named by their content and written once."""
    if image.row is not None:
        catalogue.admit(image.row)
    folder = scratch / f"image-{image.digest}"
    for name, content in (("tailscope_footprint.elf", image.footprint), ("tailscope.elf", image.elf)):
        if not (folder / name).exists():
            write_bytes(folder / name, content)
    elf = folder / "tailscope.elf"
    return FirmwareImage(elf, image.sha256, image.allocator, image.configuration, image.looks)


def _memory(replayer: Replayer, scratch: Path) -> MemoryOf:
    """Raises TailscopeError where this machine cannot run a program that was built elsewhere."""
    if not replayer.program:
        return lambda _image, _plan, _log: Memory.unknown(replayer.why_none)
    digest = hashlib.sha256(replayer.program).hexdigest()
    program = scratch / f"replayer-{digest}" / replayer.name / "trace_replay"
    _install(program, replayer.program)
    return lambda image, plan, log: memory_by(lambda: program, image.configuration.heap_bytes, plan, log)


@cache
def _install(program: Path, content: bytes) -> None:
    if not program.exists():
        write_bytes(program, content)
        program.chmod(0o755)
    try:
        children.run([program], within_s=_STARTS_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TailscopeError(
            f"The host's build of the heap does not run on this worker ({error}); it needs the libraries "
            "of 32-bit programs, on Debian libc6-i386."
        ) from None


def _bounds(image: FirmwareImage, _boot: Boot) -> dict[str, SectionBound]:
    built = image.configuration
    return _bounds_of(image.elf, image.allocator, built.locking, tuple(sorted(built.knobs.items())))


@cache
def _bounds_of(
    elf: Path, allocator: str, locking: str, knobs: tuple[tuple[str, int], ...]
) -> dict[str, SectionBound]:
    """Those of an image are the same in each of its runs."""
    return bounds_of(elf, allocator, locking, dict(knobs))
