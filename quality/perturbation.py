"""What the instruments themselves cost: the same operations on builds with and without them.

A build without pins has no window to count in. So each build runs the same image twice: once until
the operations begin, once until they have ended. The difference is theirs alone. These builds send
no records: the wait for the serial line would hide every other difference. What a record does to
the operation after it shows in the width of that operation's pulse on OP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from base.files import results
from capture.reading.probes import PULSES_BEFORE
from firmware.build import image as firmware
from scenarios.operations import Allocate, Free, Image, Operation, encode
from scenarios.stimulus import NO_STIMULUS
from simulator import run as simulator

PAIRS = 200
BLOCK_BYTES = 120
ALLOCATORS = ("seglist", "tlsf")
VARIANTS: tuple[tuple[str, ...], ...] = ((), ("pins",), ("dwt",), ("pins", "dwt"))
RUN_FOR = "2s"
OPERATIONS: tuple[Operation, ...] = (Allocate(0, BLOCK_BYTES), Free(0)) * PAIRS
# Where in the firmware the operations begin, and where they have ended.
BEGIN, END = "interpret", "stimulus_stop"


@dataclass(frozen=True)
class Cost:
    """The cost of an allocation and its free on one build, with the interpreter around them.

    `without` names the instruments that the build lacks.
    """

    allocator: str
    without: tuple[str, ...]
    instructions: float
    cycles: float


def steps() -> int:
    """How many steps tables() has."""
    return len(ALLOCATORS) * (len(VARIANTS) + 1)


def measure(allocator: str, tell: Callable[[str], None] = lambda _: None) -> list[Cost]:
    """One row for each of VARIANTS, told as each begins. Raises BuildError and SimulatorError."""
    costs = []
    for without in VARIANTS:
        tell(f"{allocator} without {', '.join([*without, 'records'])}")
        elf = firmware.build(allocator, without=(*without, "records")).elf
        begin, end = _until(elf, BEGIN).stats, _until(elf, END).stats
        instructions, cycles = end.instructions - begin.instructions, end.cycles - begin.cycles
        costs.append(Cost(allocator, without, instructions / PAIRS, cycles / PAIRS))
    return costs


def _until(elf: Path, place: str, counts: Mapping[str, str] | None = None) -> simulator.Run:
    """Runs the operations up to `place` in the code, and counts `counts` between the edges of OP.

    Raises SimulatorError if the run never reaches it.
    """
    image = encode(Image("perturbation", NO_STIMULUS, OPERATIONS))
    return simulator.run(
        elf, image=image, until=RUN_FOR, stop_on=[f"pc:{place}"], counts=counts, count_window="OP"
    )


def width(allocator: str, records: bool) -> float:
    """The mean width of an operation's pulse on OP, in core cycles, with records or without."""
    elf = firmware.build(allocator, without=() if records else ("records",)).elf
    pulses = _until(elf, END, {"instructions": "*"}).windows
    of_operations = pulses[PULSES_BEFORE : PULSES_BEFORE + len(OPERATIONS)]
    widths: list[int] = (of_operations["end_cycle"] - of_operations["start_cycle"]).to_list()
    return mean(widths)


def tables(tell: Callable[[str], None] = lambda _: None) -> Iterator[results.Result]:
    """The two results, measured anew. `tell` hears of each of steps() as it begins."""
    costs: list[Sequence[str]] = []
    for allocator in ALLOCATORS:
        measured = measure(allocator, tell)
        for cost in measured:
            build = f"without {' and '.join(cost.without)}" if cost.without else "pins and dwt"
            figures = (cost.instructions, cost.cycles, measured[0].cycles - cost.cycles)
            costs.append((allocator, build, *(f"{figure:.1f}" for figure in figures)))
    yield "perturbation", ("allocator", "build", "instructions", "cycles", "cycles less"), costs
    widths: list[Sequence[str]] = []
    for allocator in ALLOCATORS:
        tell(f"{allocator} with records and without")
        widths.append((allocator, *(f"{width(allocator, records):.1f}" for records in (True, False))))
    yield "perturbation-records", ("allocator", "OP with records, cycles", "OP without, cycles"), widths
