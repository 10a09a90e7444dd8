"""Cycles that the virtual Nucleo predicts, beside measured ones.

`python -m analysis.studies.timing_report` prints the table.

Measured: the article "A Heap Without a Tail", Nucleo-F401RE, 84 MHz, -O2, flash accelerator off. Its facade
around the two searches is not ours (header checks, statistics, hooks), so whole allocations are compared for
scale and only the walk, whose machine code is the same, for accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from capture.run_folder.records import EndRecord, OperationRecord
from firmware import build as firmware
from scenarios import catalogue
from simulator import run as simulator

RUN_FOR = "10s"
FRAGMENT_BYTES = 120


@dataclass(frozen=True)
class Row:
    """One line of the table: cycles."""

    what: str
    predicted: float
    measured: float

    def __str__(self) -> str:
        deviation = 100 * (self.predicted / self.measured - 1)
        return f"| {self.what} | {self.predicted:,.1f} | {self.measured:,.0f} | {deviation:+.1f} % |"


def allocations(allocator: str, scenario: str) -> list[OperationRecord]:
    """The records of the blocks allocated in a run of `scenario` with the accelerator off.

    Raises ValueError if the run does not come to its end.
    """
    elf = firmware.build(allocator, art=False).elf
    log = simulator.run(elf, image=catalogue.load(scenario).compile().image, until=RUN_FOR).records
    if log.first(EndRecord) is None:
        raise ValueError(f"{scenario} on {allocator} does not end within {RUN_FOR}.")
    return [record for record in log.all(OperationRecord) if record.kind == "A"]


def mean_at(found: list[OperationRecord], probes: int) -> float:
    """Mean cycles of the critical sections of the allocations that looked at `probes` blocks."""
    return mean(one.critical_cycles for one in found if one.probes == probes)


def rows() -> list[Row]:
    """Every comparison."""
    seglist, tlsf = (allocations(name, "mem_stress") for name in ("seglist", "tlsf"))
    deep = [one for one in allocations("seglist", "mem_frag") if one.size == FRAGMENT_BYTES]
    flat = [one for one in allocations("tlsf", "mem_frag") if one.size == FRAGMENT_BYTES]
    slope = (mean_at(deep, 255) - mean_at(deep, 20)) / (255 - 20)
    return [
        Row("seglist, one more block to walk", slope, 12),
        Row("seglist, 255 probes (depth 252)", mean_at(deep, 255), 3483),
        Row("seglist, 1 probe", mean_at(seglist, 1), 356),
        Row("seglist, 8 probes", mean_at(seglist, 8), 530),
        Row("TLSF, 1 probe", mean_at(tlsf, 1), 350),
        Row("TLSF, 2 probes", mean_at(tlsf, 2), 449),
        Row("TLSF under mem_frag", mean_at(flat, 2), 455),
    ]


def main() -> None:
    """Prints the table as Markdown."""
    print("| accelerator off, cycles | predicted | measured | deviation |\n|---|---:|---:|---:|")
    print("\n".join(map(str, rows())))


if __name__ == "__main__":
    main()
