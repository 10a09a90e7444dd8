"""Cycles that the virtual Nucleo predicts, beside measured ones.

Measured: the article "A Heap Without a Tail", on a Nucleo-F401RE at 84 MHz. By its author's
repository (ragnar-vallhala/vaios) the compiler's option is -O2, the flash accelerator is off, and
the counter is read right before and right after the whole allocation. So the whole call, which is
OP here, is what compares. The facade around the two searches is not ours: only the walk is the same
machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from base.metrology.quantiles import nearest_rank
from base.run_folder.records import EndRecord, OperationRecord
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator

RUN_FOR = "10s"
FRAGMENT_BYTES = 120

# The article's figures: mean cycles by the probes of the search, median and p99 of mem_stress.
SEGLIST_BY_PROBES = {1: 356, 2: 416, 3: 439, 4: 457, 5: 471, 8: 530}
SEGLIST_MEDIAN, SEGLIST_P99 = 415, 490
TLSF_BY_PROBES = {1: 350, 2: 449}
TLSF_MEDIAN, TLSF_P99 = 422, 468

HEADINGS = (
    *("predicted", "samples", "critical section", "whole call"),
    *("measured, whole call", "deviation in %"),
)

Statistic = Callable[[Sequence[int]], float]


@dataclass(frozen=True)
class Row:
    """One line of the table, in cycles.

    `critical` (the critical section) and `call` (the whole call) are predicted, of `samples`
    operations. `measured` is the article's whole call.
    """

    what: str
    samples: int
    critical: float
    call: float
    measured: float

    @property
    def cells(self) -> tuple[object, ...]:
        """The figures in the order of HEADINGS."""
        deviation = 100 * (self.call / self.measured - 1)
        predicted = (f"{cycles:.1f}" for cycles in (self.critical, self.call))
        return (self.what, self.samples, *predicted, self.measured, f"{deviation:.1f}")


def allocations(allocator: str, scenario: str) -> list[OperationRecord]:
    """The records of the blocks allocated in a run of `scenario` without stimulus, accelerator off.

    Raises ValueError if the run does not come to its end.
    """
    elf = firmware.build(allocator, art=False).elf
    image = catalogue.load(scenario, stimulus="none").compile().image
    log = simulator.run(elf, image=image, until=RUN_FOR).records
    if log.first(EndRecord) is None:
        raise ValueError(f"{scenario} on {allocator} does not end within {RUN_FOR}.")
    return [record for record in log.all(OperationRecord) if record.kind == "A"]


def row(what: str, records: Iterable[OperationRecord], statistic: Statistic, measured: float) -> Row:
    """A line whose predictions are the `statistic` of both windows of `records`."""
    windows = [(record.critical_cycles, record.operation_cycles) for record in records]
    critical, call = (statistic(cycles) for cycles in zip(*windows, strict=True))
    return Row(what, len(windows), critical, call, measured)


def stress_rows(allocator: str, name: str, by_probes: dict[int, int], median: float, p99: float) -> list[Row]:
    """The lines of mem_stress: the means by probes, the median and p99."""
    records = allocations(allocator, "mem_stress")
    rows = [
        row(
            f"{name}, {probes} probe{'s' * (probes > 1)}",
            [record for record in records if record.probes == probes],
            mean,
            measured,
        )
        for probes, measured in by_probes.items()
    ]
    return [
        *rows,
        row(f"{name}, median", records, lambda cycles: nearest_rank(np.sort(cycles), 50), median),
        row(f"{name}, p99", records, lambda cycles: nearest_rank(np.sort(cycles), 99), p99),
    ]


def fragments(allocator: str, probes: int) -> list[OperationRecord]:
    """The measured allocations of mem_frag whose search took `probes` probes."""
    records = allocations(allocator, "mem_frag")
    return [record for record in records if (record.size, record.probes) == (FRAGMENT_BYTES, probes)]


def rows() -> list[Row]:
    """All lines. Of mem_frag's trials the least counts, as in the author's example program."""
    deep = row("seglist, 255 probes (depth 252)", fragments("seglist", 255), min, 3483)
    shallow = row("seglist, 20 probes (depth 17)", fragments("seglist", 20), min, 0)
    critical, call = deep.critical - shallow.critical, deep.call - shallow.call
    return [
        Row("seglist, one more block to walk", deep.samples, critical / (255 - 20), call / (255 - 20), 12),
        deep,
        *stress_rows("seglist", "seglist", SEGLIST_BY_PROBES, SEGLIST_MEDIAN, SEGLIST_P99),
        *stress_rows("tlsf", "TLSF", TLSF_BY_PROBES, TLSF_MEDIAN, TLSF_P99),
        row("TLSF under mem_frag", fragments("tlsf", 2), min, 455),
    ]
