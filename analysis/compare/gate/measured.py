"""A stored run as the gate reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from analysis.compare.gate.lines import Operation
from analysis.compare.pairing import Stored
from analysis.compare.run import Run
from analysis.compare.run import read as read_run
from analysis.compare.settings import chosen_of, made_by_of
from analysis.errors import GateError
from base.run_folder import folder as names
from base.run_folder.folder import read_observed
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.placements import Range
from base.run_folder.quantities import Quantity
from base.run_folder.records import HEAP_NOT_CALLED


@dataclass(frozen=True, eq=False)
class Measured:
    """A complete run. `chosen` and `made_by` are its settings (settings.py), by name."""

    folder: Path
    manifest: Manifest
    image_sha256: str
    run: Run

    @property
    def table(self) -> pl.DataFrame:
        """Every operation (docs/reference/operations.md)."""
        return self.run.operations

    @property
    def name(self) -> str:
        """The run in words: scenario, allocator, board."""
        return f"{self.manifest.scenario} on {self.manifest.configuration}, board {self.manifest.board}"

    @property
    def exact(self) -> bool:
        """True if the same firmware with the same operations gives the same run, to the cycle."""
        return self.manifest.exact

    @property
    def chosen(self) -> dict[str, str]:
        return chosen_of(self.manifest)

    @property
    def made_by(self) -> dict[str, str]:
        return made_by_of(self.manifest)

    @cached_property
    def operations(self) -> list[Operation]:
        """Every operation of the run, in order."""
        # Under the scheduler's lock interrupts run within the section.
        within = ("control_hits", "isr_hits") if self.manifest.locking == "scheduler" else ("control_hits",)
        rows = self.table.select(
            "kind",
            "dwt_cycles",
            "instructions",
            pl.col("probes").fill_null(0),
            pl.sum_horizontal(*within).alias("hits"),
            "wire_critical_samples",
        ).iter_rows()
        return [
            Operation(kind, cycles, cycles, instructions, probes, hits, pulse)
            for kind, cycles, instructions, probes, hits, pulse in rows
        ]

    @property
    def labels(self) -> list[str | None]:
        return self.table["label"].to_list()

    def longest(self, quantity: Quantity) -> str | None:
        """The first of the longest samples of a latency, as a reader finds it: `202.4 ns, of the
        stimulus at sample 1,234, in operation 17, free 96 bytes`. None if there is no sample.
        """
        found = self.run.greatest(quantity)
        if found is None:
            return None
        seq = found["seq"]
        where = "outside all operations" if seq is None else f"in {self.told[seq]}"
        return f"{found['value']:,.1f} ns, of the stimulus at sample {found['sample']:,}, {where}"

    @property
    def counts_probes(self) -> bool:
        return self.manifest.probes_source in ("records", "counted by the virtual board")

    @cached_property
    def told(self) -> list[str]:
        """Each operation as a reader knows it: `operation 311, allocate 96 bytes`."""
        rows = self.table.select("seq", "kind", "size").iter_rows()
        return [f"operation {seq:,}, {_what(kind, size)}" for seq, kind, size in rows]


def _what(kind: str, size: int) -> str:
    if kind == "K":
        return f"call {size} of the kernel"
    word = "free" if kind in ("F", "N", "E") else "allocate"
    return f"{word} {size:,} bytes" + (", not called" if kind in HEAP_NOT_CALLED else "")


def read(folder: Path) -> Measured:
    """Reads a run folder. Raises GateError where the run is not complete, or its tables are not
    those that run.json sums up; and RunError.
    """
    try:
        is_there = folder.is_dir()
    except OSError as error:
        raise GateError(f"{str(folder)[:80]}: cannot be read: {error.strerror}.") from None
    if not is_there:
        raise GateError(f"{folder}: is no run folder; name one of runs/.")
    if not (folder / names.MANIFEST).exists() and not names.is_observed(folder):
        raise GateError(names.no_manifest(folder))
    manifest = read_manifest(folder / names.MANIFEST)
    if not manifest.complete:
        reasons = " ".join(manifest.reasons)
        raise GateError(f"{folder}: the run is {manifest.verdict}, and says nothing: {reasons}".rstrip(": "))
    run = read_run(Stored(folder, manifest))
    if run.operations.height != manifest.counts.operations:
        raise GateError(
            f"{folder}: run.json tells of {manifest.counts.operations:,} operations, the table of "
            f"{run.operations.height:,}; ./lab redecode it."
        )
    if run.contradiction:
        raise GateError(run.contradiction)
    digest = hashlib.sha256(read_observed(folder, names.IMAGE)).hexdigest()
    return Measured(folder, manifest, digest, run)


def ranges(runs: Iterable[Measured]) -> dict[str, Range]:
    """Over the placements of the first run that has any, by quantity. Raises RunError."""
    return next((run.run.ranges for run in runs if run.run.ranges), {})
