"""How fast the virtual Nucleo is: medians of several runs, with the board's timing and without."""

from __future__ import annotations

from statistics import median

from firmware.build import boards
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator

ALLOCATOR, SCENARIO = "tlsf", "mem_frag"
RUN_CYCLES = 5 * boards.default().core_hz
"""About the length of the scenario: five seconds of the board."""


def measure(repeats: int) -> dict[str, float | int | str]:
    """Medians over `repeats` repeats, by name, and what was run.

    `mips` are millions of the board's instructions in a second of this machine, all that the
    program went through; `executed_mips` leaves out those of waiting loops whose effect was
    repeated without executing them. `realtime_ratio` is seconds of the board, idle ones included,
    per second; `ideal_` is without flash wait states. Raises SimulatorError and BuildError.
    """
    elf = firmware.build(ALLOCATOR).elf
    image = catalogue.load(SCENARIO).compile().image
    figures: dict[str, list[float]] = {}
    for _ in range(repeats):
        for timing, prefix in (("nucleo", ""), ("ideal", "ideal_")):
            done = simulator.run(elf, image=image, until=RUN_CYCLES, timing=timing)
            stats = done.stats
            executed = stats.instructions - stats.skipped_instructions
            for name, value in (
                ("mips", stats.instructions / 1e6),
                ("executed_mips", executed / 1e6),
                ("realtime_ratio", stats.cycles / done.core_hz),
            ):
                figures.setdefault(prefix + name, []).append(value / stats.host_seconds)
    return {
        **{name: median(values) for name, values in figures.items()},
        "repeats": repeats,
        "workload": f"{SCENARIO} on {ALLOCATOR}",
    }
