"""A run that is compared: its tables read, its samples and its greatest values at hand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from analysis.compare.pairing import Stored
from base.metrology.membership import Reach
from base.metrology.quantiles import Summary, summarise
from base.run_folder import folder as names
from base.run_folder import placements
from base.run_folder.folder import read_observed
from base.run_folder.manifest import Manifest
from base.run_folder.placements import Range
from base.run_folder.quantities import QUANTITIES, Quantity
from base.run_folder.tables import INTERRUPTS, OPERATIONS, read_interrupts, read_operations
from capture.summary.samples import maximum

_IMAGE_HEADER_BYTES = 64


@dataclass(frozen=True, eq=False)
class Run:
    """`operations` and `interrupts` have the columns of docs/reference/operations.md."""

    stored: Stored
    operations: pl.DataFrame
    interrupts: pl.DataFrame

    @property
    def manifest(self) -> Manifest:
        return self.stored.manifest

    @cached_property
    def ranges(self) -> dict[str, Range]:
        """Each greatest value over the placements of the code, by quantity; empty where the image
        was linked once. Raises RunError.
        """
        found = placements.read(self.stored.folder)
        return found.headlines if found else {}

    def samples(self, quantity: Quantity) -> pl.DataFrame:
        """The rows that have the quantity."""
        return quantity.samples(self.operations, self.interrupts)

    def reach(self, quantity: Quantity) -> Reach | None:
        """How far each statistic can move with samples that may not belong; None where all do."""
        return quantity.reach(self.operations, self.interrupts)

    def summary(self, quantity: Quantity) -> Summary:
        """The statistics of all samples of the quantity."""
        samples = self.samples(quantity)
        return summarise(samples[quantity.column].to_numpy(), quantity.still_open(samples))

    def greatest(self, quantity: Quantity) -> dict[str, Any] | None:
        """The first of the greatest samples, as `maxima` of run.json has it."""
        return maximum(quantity, self.samples(quantity), self.operations)

    def budget(self, quantity: Quantity) -> float | None:
        """A value is true to plus or minus this, in the quantity's unit; None if nobody knows."""
        budget = self.manifest.error_budget.get(quantity.key)
        return budget.total.of(quantity.unit) if budget else None

    @cached_property
    def operations_digest(self) -> tuple[str, str]:
        """The digest of the run's operations, and what it is a digest of.

        It is of the entries of the image alone: its header tells of stimulus and records. Where the
        image is not kept, run.json has the CRC-32 of the same bytes. Raises CaptureError.
        """
        if not (self.stored.folder / names.IMAGE).exists():
            return "CRC-32", self.manifest.image_crc32
        body = read_observed(self.stored.folder, names.IMAGE)[_IMAGE_HEADER_BYTES:]
        return "SHA-256", hashlib.sha256(body).hexdigest()

    @property
    def contradiction(self) -> str | None:
        """A sentence if the tables are not those that run.json sums up."""
        for quantity in QUANTITIES:
            summary = self.manifest.statistics.get(quantity.key)
            series = self.samples(quantity)[quantity.column]
            if summary is not None and (summary.n, summary.max) != (len(series), series.max()):
                return (
                    f"{self.stored.folder}: run.json and the tables do not tell the same of "
                    f"{quantity.key}; ./lab redecode it."
                )
        return None


def read(stored: Stored) -> Run:
    """Reads the tables of a run; they are empty where a run that is not complete has none.

    Raises RunError.
    """
    folder, complete = stored.folder, stored.manifest.complete
    operations, interrupts = folder / names.OPERATIONS, folder / names.INTERRUPTS
    return Run(
        stored,
        read_operations(operations) if complete or operations.exists() else pl.DataFrame(schema=OPERATIONS),
        read_interrupts(interrupts) if complete or interrupts.exists() else pl.DataFrame(schema=INTERRUPTS),
    )


def same_operations(a: Run, b: Run) -> bool:
    """True if both ran the same operations in the same order. Raises CaptureError."""
    ours, theirs = a.operations_digest, b.operations_digest
    if ours[0] == theirs[0]:
        return ours == theirs
    return a.manifest.image_crc32 == b.manifest.image_crc32
