"""What a worker does: one run in a folder of its own, of which the tables and a row come back."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from analysis.bounds.image import bounds_of
from analysis.campaign import verification
from analysis.campaign.order import BOARD, Order, ShippedImage, digest
from analysis.campaign.rows import DIFFERS, failed_row, row_of
from capture import conductor, direct_run
from capture.files.errors import TailscopeError
from capture.files.whole import write_bytes
from capture.run_folder import folder as names
from capture.run_folder.manifest import SectionBound
from capture.run_folder.records import Boot
from capture.run_folder.tables import read_interrupts, read_operations, write_table
from capture.store import RunResult
from firmware.build import FirmwareImage


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
    """Makes the run of `order` in a folder below `scratch`, and removes it again.

    `program` stands in for the simulator of a direct run. What a user can mend is a failed row;
    nothing is raised for it.
    """
    try:
        if order.bench != digest():
            raise TailscopeError(
                "The worker's checkout is another than that of the campaign; give it the same sources."
            )
        return _run(order, _unpacked(image, scratch), scratch, program)
    except TailscopeError as error:
        return Outcome(order.key, failed_row(order.key, order.point, str(error)))


def _run(order: Order, image: FirmwareImage, scratch: Path, program: Path | None) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="run-", dir=scratch) as name:
        direct = partial(direct_run.run, program=program)
        folder = _made(direct if order.capture == "direct" else conductor.run, order, image, Path(name))
        if order.verify:
            real = _made(conductor.run, order, image, Path(name))
            found = verification.difference(real, folder)
            if found is not None:
                row = {**failed_row(order.key, order.point, found), "state": DIFFERS}
                return Outcome(order.key, row, differing=verification.packed(real, folder))
        tables = {
            "operations": read_operations(folder / names.OPERATIONS),
            "interrupts": read_interrupts(folder / names.INTERRUPTS),
        }
        packed = {what: _packed(order.key, table, Path(name) / what) for what, table in tables.items()}
        digests = {what: hashlib.sha256(content).hexdigest() for what, content in packed.items()}
        verified = order.verify if order.capture == "direct" else None
        return Outcome(order.key, row_of(order.key, folder, verified), packed, digests)


def _made(conduct: Callable[..., RunResult], order: Order, image: FirmwareImage, above: Path) -> Path:
    """The folder of the run, by one of the two ways."""
    return conduct(
        order.plan,
        image,
        board_name=BOARD,
        samplerate_hz=order.samplerate_hz,
        runs_folder=above,
        bounds=_bounds,
    ).folder


def _packed(key: str, table: pl.DataFrame, path: Path) -> bytes:
    """The bytes of a table with the key of its run in front."""
    write_table(path, table.select(pl.lit(key).alias("key"), pl.all()))
    return path.read_bytes()


def _unpacked(image: ShippedImage, scratch: Path) -> FirmwareImage:
    """The image as files, which are named by their content and written once."""
    folder = scratch / f"image-{image.digest}"
    for name, content in (("tailscope_footprint.elf", image.footprint), ("tailscope.elf", image.elf)):
        if not (folder / name).exists():
            write_bytes(folder / name, content)
    elf = folder / "tailscope.elf"
    return FirmwareImage(elf, image.sha256, image.allocator, image.configuration, image.looks)


def _bounds(image: FirmwareImage, _boot: Boot) -> dict[str, SectionBound]:
    built = image.configuration
    return _bounds_of(image.elf, image.allocator, built.locking, tuple(sorted(built.knobs.items())))


@cache
def _bounds_of(
    elf: Path, allocator: str, locking: str, knobs: tuple[tuple[str, int], ...]
) -> dict[str, SectionBound]:
    """Those of an image are the same in each of its runs."""
    return bounds_of(elf, allocator, locking, dict(knobs))
