"""A scenario on the virtual board, with nothing that disturbs it: one row for each operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import polars as pl

from base.run_folder.records import HEAP_NOT_CALLED, EndRecord, OperationRecord
from capture.reading.probes import PULSES_BEFORE
from firmware.build import catalogue as allocators_here
from firmware.build import image as firmware
from firmware.build.image import FirmwareImage
from scenarios import catalogue
from scenarios.plan import Plan
from scenarios.stimulus import Stimulus
from simulator import run as simulator
from simulator.run import Run
from studies.reproduce.remade import Parameters, Settings, words

BOARD = "virtual Nucleo-F401RE, 84 MHz, no stimulus, a heap of 65,536 bytes"

_RUN_FOR = "600s"
_QUIET = Stimulus("none", 0, 0)
_NOTHING: Mapping[str, str] = MappingProxyType({})
_COLUMNS = ("seq", "kind", "size", "critical_cycles", "operation_cycles", "probes", "live", "bytes_in_use")


@dataclass(frozen=True)
class BoardRun:
    """The run to make; `art` is the flash accelerator."""

    SOURCES: ClassVar[tuple[str, ...]] = (
        *("firmware", "scenarios", "simulator", "base/run_folder", "capture/reading/probes.py"),
        "studies/reproduce/board.py",
    )

    allocator: str
    scenario: str
    art: bool = False
    parameters: Parameters = ()
    knobs: Settings = ()
    optimization: str = "2"

    def __str__(self) -> str:
        art = "on" if self.art else "off"
        return (
            f"{self.scenario} on {self.allocator}{words(self.knobs)}, ART {art}, "
            f"-O{self.optimization}{words(self.parameters)}"
        )

    def plan(self) -> Plan:
        """The operations, without a stimulus. Raises TailscopeError."""
        return replace(catalogue.load(self.scenario, dict(self.parameters)), stimulus=_QUIET).compile()

    def built(self) -> FirmwareImage:
        """The image as it is built. Raises BuildError."""
        return firmware.build(
            self.allocator, art=self.art, knobs=dict(self.knobs), optimization=self.optimization
        )

    def run(self, built: FirmwareImage, plan: Plan, counts: Mapping[str, str] = _NOTHING) -> Run:
        """`plan` on the image, wherever its code lies, with `counts` of critical sections.

        Raises TailscopeError, and ValueError if the run does not come to its end.
        """
        done = simulator.run(
            built.elf, image=plan.image, until=_RUN_FOR, counts=counts, count_window="CRIT" if counts else ""
        )
        if done.records.first(EndRecord) is None:
            raise ValueError(f"{self} does not end within {_RUN_FOR}.")
        return done

    def measure(self) -> pl.DataFrame:
        """The OP records, with the plan's `measured`, `label` and `depth`.

        `instructions` are those of the critical section, null where none was entered. `kind` is as
        in the record: A allocated, O out of memory, F freed. Raises TailscopeError,
        and ValueError if the run does not come to its end.
        """
        plan = self.plan()
        done = self.run(self.built(), plan, {"instructions": "*"})
        found = done.records.all(OperationRecord)
        records = pl.DataFrame({name: [getattr(one, name) for one in found] for name in _COLUMNS})
        records = records.with_columns(instructions=_instructions(found, done.windows["instructions"]))
        planned = plan.operations.select(pl.col("seq").cast(pl.Int64), "measured", "label", "depth")
        return records.join(planned, on="seq", how="left", maintain_order="left")


def _instructions(found: Sequence[OperationRecord], counted: pl.Series) -> pl.Series:
    """The instructions of each operation; null if it calls no heap function."""
    sections = iter(counted[PULSES_BEFORE:])
    return pl.Series(
        [None if one.kind in HEAP_NOT_CALLED else next(sections) for one in found], dtype=pl.Int64
    )


def able() -> tuple[str, ...]:
    """The allocators that can run a scenario with frees on the board."""
    rows = allocators_here.own()
    return tuple(name for name in firmware.allocators() if name in rows and "frees" in rows[name].promises)


def allocations(run: pl.DataFrame) -> pl.DataFrame:
    """The measured allocations that were served."""
    return run.filter((pl.col("kind") == "A") & pl.col("measured"))


def frees(run: pl.DataFrame) -> pl.DataFrame:
    """The measured frees."""
    return run.filter((pl.col("kind") == "F") & pl.col("measured"))
