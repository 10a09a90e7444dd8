"""Makes one run on a worker and returns its tables and a row; it makes some runs both ways."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from analysis.bounds.image import bounds_of
from analysis.campaign.order import RECORDS, Order, digest, image_of, word
from analysis.campaign.rows import DIFFERS, failed_row, row_of
from analysis.fragmentation.of_run import memory_of_run
from base.files.errors import TailscopeError
from base.run_folder import folder as names
from base.run_folder.manifest import Manifest, SectionBound, read_manifest
from base.run_folder.memory import with_memory
from base.run_folder.records import Boot
from base.run_folder.tables import write_table
from capture import same
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import find
from capture.conduct import run as conduct
from capture.summary.summary import summarise_run
from firmware.build import catalogue
from firmware.build.image import FirmwareImage


class Sample:
    """Which runs are made both ways: the first of each image at each samplerate, and a share.

    An image that is another placement of one is no other image: to link it takes far less time.
    Matrix and keys decide alone, so that the choice is the same after each loss. A fault of all
    runs shows before many are made.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._met: set[tuple[str, int]] = set()

    def takes(self, order: Order) -> bool:
        """To be called for each run, in the order of the matrix."""
        if not self._share:
            return False
        image = (order.image_sha256, order.samplerate_hz)
        is_first = not order.point.placement and image not in self._met
        self._met.add(image)
        return is_first or int(order.key, 16) < self._share * 2.0**256


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


@dataclass(frozen=True)
class Outcome:
    """The result of one attempt: its row, and the bytes of each table.

    Where a direct run is not what the real tools bring, `differing` has the files of both, by
    `sigrok/…` and `direct/…`.
    """

    key: str
    row: dict[str, Any]
    tables: dict[str, bytes] = field(default_factory=dict, repr=False)
    differing: dict[str, bytes] = field(default_factory=dict, repr=False)


def run(order: Order, scratch: Path, program: Path | None = None) -> Outcome:
    """Makes the run of `order`; what it needs a folder for is below `scratch`, and goes again.

    `program` stands in for the simulator of a direct run. What a user can mend is a failed row;
    nothing is raised for it.
    """
    try:
        if order.outside is not None:
            catalogue.admit(order.outside)
        image = image_of(order.point, order.plan)
        if (order.bench, order.image_sha256) != (digest(), image.sha256):
            raise TailscopeError(
                "The worker's checkout or its compilers are others than those of the campaign; give it the "
                "same."
            )
        return _run(order, image, scratch, program)
    except TailscopeError as error:
        return Outcome(order.key, failed_row(order.key, order.point, str(error)))


_Parts = tuple[Manifest, pl.DataFrame, pl.DataFrame]
"""What a campaign keeps of a run: manifest, operations, interrupts."""


def _run(order: Order, image: FirmwareImage, scratch: Path, program: Path | None) -> Outcome:
    request = RunRequest(
        order.plan,
        image,
        word(order.point.board),
        order.samplerate_hz,
        records=RECORDS,
        bounds=_bounds,
        memory=memory_of_run,
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
    tables = {"operations": _packed(order.key, operations), "interrupts": _packed(order.key, interrupts)}
    verified = order.verify if order.capture == "direct" else None
    return Outcome(order.key, row_of(order.key, manifest, verified, order.point.placement), tables)


def _packed(key: str, table: pl.DataFrame) -> bytes:
    """The bytes of a table with the key of its run in front."""
    packed = BytesIO()
    write_table(packed, table.select(pl.lit(key).alias("key"), pl.all()))
    return packed.getvalue()


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
