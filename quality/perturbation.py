"""What the instruments themselves cost: the same operations on builds with and without them.

A build without pins has no window to count in. So each build runs the same image twice: once until
the operations begin, once until they have ended. The difference is theirs alone. These builds send
no records: the wait for the serial line would hide every other difference. What a record does to
the operation after it shows in the width of that operation's pulse on OP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean

from base.files import results
from base.tell import Tell
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


def steps() -> int:
    """How many steps tables() has."""
    return len(ALLOCATORS) * (len(VARIANTS) + 1)


def tables(tell: Tell) -> Iterator[results.Result]:
    """The two results, measured anew: the cost of an allocation and its free on each build, which
    lacks the instruments of its variant, with the interpreter around them; and the mean width of an
    operation's pulse on OP, in core cycles. `tell` hears of each of steps() as it begins.

    Raises BuildError and SimulatorError.
    """
    costs: list[Sequence[str]] = []
    for allocator in ALLOCATORS:
        whole = 0.0
        for without in VARIANTS:
            tell(f"{allocator} without {', '.join([*without, 'records'])}")
            elf = firmware.build(allocator, without=(*without, "records")).elf
            begin, end = _until(elf, BEGIN).stats, _until(elf, END).stats
            cycles = (end.cycles - begin.cycles) / PAIRS
            whole = whole or cycles
            build = f"without {' and '.join(without)}" if without else "pins and dwt"
            figures = ((end.instructions - begin.instructions) / PAIRS, cycles, whole - cycles)
            costs.append((allocator, build, *(f"{figure:.1f}" for figure in figures)))
    yield "perturbation", ("allocator", "build", "instructions", "cycles", "cycles less"), costs
    widths: list[Sequence[str]] = []
    for allocator in ALLOCATORS:
        tell(f"{allocator} with records and without")
        row = [allocator]
        for without in ((), ("records",)):
            elf = firmware.build(allocator, without=without).elf
            pulses = _until(elf, END, {"instructions": "*"}).windows
            of_operations = pulses[PULSES_BEFORE : PULSES_BEFORE + len(OPERATIONS)]
            row.append(f"{mean((of_operations['end_cycle'] - of_operations['start_cycle']).to_list()):.1f}")
        widths.append(row)
    yield "perturbation-records", ("allocator", "OP with records, cycles", "OP without, cycles"), widths


def _until(elf: Path, place: str, counts: Mapping[str, str] | None = None) -> simulator.Run:
    """Runs the operations up to `place` in the code, and counts `counts` between the edges of OP.

    Raises SimulatorError if the run never reaches it.
    """
    image = encode(Image("perturbation", NO_STIMULUS, OPERATIONS))
    return simulator.run(
        elf, image=image, until=RUN_FOR, stop_on=[f"pc:{place}"], counts=counts, count_window="OP"
    )
