"""Makes one run on a worker and returns its tables and a row; it makes some runs both ways."""

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
from analysis.campaign.order import RECORDS, Order, Replayer, ShippedImage, digest, word
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
from capture import same
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import MemoryOf, RunRequest
from capture.conduct import find
from capture.conduct import run as conduct
from capture.summary.summary import summarise_run
from firmware.build import catalogue
from firmware.build.image import FirmwareImage


class Sample:
    """Which runs are made both ways: the first of each image at each samplerate, and a share.

    An image that is another placement of one is no other image: to link it takes far less time.

    Matrix and keys decide alone, so that the choice is the same after each loss. The first of an
    image takes about as long as its build, and a fault of all runs shows before many are made.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._met: set[tuple[str, int]] = set()

    def takes(self, key: str, image: ShippedImage, samplerate_hz: int, placement: int = 0) -> bool:
        """To be asked of each run, in the order of the matrix."""
        if not self._share:
            return False
        what = (image.digest, samplerate_hz)
        is_first = not placement and what not in self._met
        self._met.add(what)
        return is_first or int(key, 16) < self._share * 2.0**256


def difference(real: Path, direct: Path) -> str | None:
    """Where two run folders differ, in a sentence; None if nowhere.

    Raises TailscopeError where the real tools lost something: that is no fault of the direct run.
    """
    lost = read_manifest(real / names.MANIFEST).tool_report.losses
    if lost and not read_manifest(direct / names.MANIFEST).tool_report.losses:
        raise TailscopeError(f"It could not be verified, since the real tools lost samples: {lost[0]}")
    place = same.first_difference(real, direct)
    return None if place is None else f"The direct capture is not what the real tools bring: {place}"


def _files(**folders: Path) -> dict[str, bytes]:
    """The content of each file of some folders, by NAME/PATH. Raises OSError."""
    return {
        f"{name}/{path.relative_to(folder)}": path.read_bytes()
        for name, folder in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


_STARTS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Outcome:
    """The result of one attempt: its row, and the bytes of each table, with their SHA-256.

    Where a direct run is not what the real tools bring, `differing` has the files of both, by
    `sigrok/…` and `direct/…`.
    """

    key: str
    row: dict[str, Any]
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)
    digests: dict[str, str] = field(default_factory=dict)
    differing: dict[str, bytes] = field(default_factory=dict, repr=False)


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


_Parts = tuple[Manifest, pl.DataFrame, pl.DataFrame]
"""What a campaign keeps of a run: manifest, operations, interrupts."""


def _run(
    order: Order, image: FirmwareImage, memory: MemoryOf, scratch: Path, program: Path | None
) -> Outcome:
    request = RunRequest(
        order.plan,
        image,
        word(order.point.board),
        order.samplerate_hz,
        records=RECORDS,
        bounds=_bounds,
        memory=memory,
    )
    if order.capture == "direct" and not order.verify:
        return _outcome(order, *_without_folder(Direct(request, program)))
    with tempfile.TemporaryDirectory(prefix="run-", dir=scratch) as name:
        request = replace(request, runs=Path(name))
        first = Direct(request, program) if order.capture == "direct" else Sigrok(request)
        folder = conduct(first).folder
        if order.verify:
            real = conduct(Sigrok(request)).folder
            words = difference(real, folder)
            if words is not None:
                row = {**failed_row(order.key, order.point, words), "state": DIFFERS}
                return Outcome(order.key, row, differing=_files(sigrok=real, direct=folder))
        return _outcome(order, *_stored(folder))


def _without_folder(source: Direct) -> _Parts:
    """A direct run that nobody compares."""
    observed = find(source)
    joined, setting = observed.evidence.joined, observed.setting
    manifest = summarise_run(observed.evidence, setting)
    return manifest, with_memory(joined.operations, setting.memory), joined.interrupts


def _stored(folder: Path) -> _Parts:
    operations, interrupts = (folder / name for name in (names.OPERATIONS, names.INTERRUPTS))
    return read_manifest(folder / names.MANIFEST), pl.read_parquet(operations), pl.read_parquet(interrupts)


def _outcome(order: Order, manifest: Manifest, operations: pl.DataFrame, interrupts: pl.DataFrame) -> Outcome:
    tables = {"operations": operations, "interrupts": interrupts}
    content = {what: _packed(order.key, table) for what, table in tables.items()}
    digests = {what: hashlib.sha256(data).hexdigest() for what, data in content.items()}
    verified = order.verify if order.capture == "direct" else None
    row = row_of(order.key, manifest, verified, order.point.placement)
    return Outcome(order.key, row, content, digests)


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
    knobs = tuple(sorted(built.knobs.items()))
    return _bounds_of(image.elf, image.allocator, built.locking, knobs, built.flash_acr, built.board)


@cache
def _bounds_of(
    elf: Path, allocator: str, locking: str, knobs: tuple[tuple[str, int], ...], flash_acr: int, board: str
) -> dict[str, SectionBound]:
    """The bounds of an image, computed once: they are the same in each of its runs."""
    return bounds_of(elf, allocator, locking, dict(knobs), flash_acr, board)
