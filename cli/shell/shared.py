"""Options that several commands have, each declared once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shell.declare import option, together
from cli.shell.values import (
    ALLOCATORS,
    BEGIN,
    BOARD,
    FILE,
    HEAP,
    KNOB,
    PARAMETER,
    SCALE,
    SEED,
    STIMULUS,
    WHOLE,
    choice,
)

if TYPE_CHECKING:
    from base.run_folder.manifest import Optimization


RECORDS = ("uart", "rtt")
"""As scenarios.operations has them, which takes a while to load."""
USUAL_TWO = "seglist,tlsf"


def _table(
    _ctx: click.Context, _option: click.Parameter, pairs: tuple[tuple[str, Any], ...]
) -> dict[str, Any]:
    return dict(pairs)


_SEVERAL = "one or more allocators, separated by commas, or all"

allocator = option("--allocator", ALLOCATORS, _SEVERAL, default="all")
allocator_of_two = option("--allocator", ALLOCATORS, _SEVERAL, default=USUAL_TWO)
allocator_file = option(
    "--allocator",
    FILE,
    "of a run on an allocator from outside: its C file, where this machine did not build it",
    metavar="FILE",
)
board = option(
    "--board",
    BOARD,
    "a board of `./lab list`, or the path of its TOML; or virtual:NAME, another board simulated; "
    "bench.toml's default when not given",
)
begin = option(
    "--from",
    "start",
    BEGIN,
    "from when on it counts: start (the kernel's scheduler, else main), reset, a function, a time",
)
heap = option(
    "--heap",
    "heap_bytes",
    HEAP,
    "bytes of the heap's region, a multiple of 8; the scenario's own, or 65536, when not given",
)
ignore_glitches = option(
    "--ignore-glitches", "leave out pulses that are too short to be the firmware's, and say how many"
)
jobs = option(
    "--jobs",
    WHOLE,
    "how many processes share the work",
    default=lambda: os.cpu_count() or 1,
    show_default="all cores",
)
kernel = option(
    "--kernel",
    "the program's kernel, or a TOML file that tells of it; recognised when not given",
    metavar="NAME|FILE|none",
    default="",
    show_default=False,
)
knob = option(
    "--knob",
    "knobs",
    KNOB,
    "NAME=VALUE of the allocator's build (firmware/heap/catalogue.toml); may be repeated",
    multiple=True,
    callback=_table,
)
parameter = option(
    "--parameter",
    "parameters",
    PARAMETER,
    "NAME=VALUE of the scenario: bytes as 2k or 2KiB, too, cycles as 10us; may be repeated",
    multiple=True,
    callback=_table,
)
records = option(
    "--records",
    choice(*RECORDS),
    "what carries the records: uart, or rtt through the debug probe",
    default="uart",
)
scale = option("--scale", SCALE, "keep one block in so many of the trace; auto: as many as fit the board")
search = option(
    "--search/--no-search",
    "whether to search for the smallest heap, which takes longest",
    default=True,
    show_default=False,
)
seed = option("--seed", SEED, "seed of the scenario's generator")
stimulus = option(
    "--stimulus", STIMULUS, "none, periodic, sweep, random or burst; or MODE:PERIOD[,CONTROL] in timer ticks"
)
trace = option(
    "--trace", FILE, "a file of operations, which the scenario `recorded` replays (docs/how-to/traces.md)"
)


own_program = together(
    option(
        "--chip",
        "the chip of the program, such as stm32f411re, or a table of one; stm32f401re when not given",
        metavar="NAME|FILE.toml",
        default="",
        show_default=False,
    ),
    option(
        "--hse",
        "the crystal's frequency in Hz, or none; the board's when not given",
        metavar="HZ|none",
        default="",
        show_default=False,
    ),
    option("--strict", "stop at the first thing that the manual does not allow, or that is not modelled"),
    option(
        "--gaps",
        "go on past what the virtual board cannot do, too: a first try if the run stops at something",
    ),
    option("--semihosting", "answer the program's calls to its host; what it prints is not shown"),
    option("--any-core", "run a program that was made for another core, such as a Cortex-M0, all the same"),
    option(
        "--attach",
        "what hangs on the chip: i2c1=eeprom.toml, spi1:pa4=sensor.toml, usart1=modem.toml, pa0=edges.csv; "
        "may be repeated (docs/reference/partners.md)",
        metavar="WHERE=FILE",
        multiple=True,
    ),
)
"""The options of somebody's own program on the virtual board (simulator.program)."""

OPTIMIZATIONS: dict[str, Optimization] = {"-O1": "1", "-O2": "2", "-O3": "3", "-Os": "s"}
"""By GCC's option what a run calls it."""


@dataclass(frozen=True)
class RunOptions:
    """What the user chose, as `./lab scenario` takes it.

    None leaves the choice to bench.toml or to the scenario. `boards` are run on one after the
    other. `knobs` are numbers of the heap's build. `duration_s` is that of the capture. `art` are
    the states of the flash accelerator (prefetch and caches) to run with. `records` says what
    carries the records, one of scenarios.operations.RECORDS. `locking` are the locks of the heap;
    None is the allocator's default. `optimise` are GCC's -O of the firmware. `trace` is what the
    scenario `recorded` replays, one block in `scale`. `heap_bytes` is the size of the heap's
    region. `capture` is sigrok, the real tools, or direct, the virtual board itself; None is sigrok
    where that is installed. `placements` is how many times each image is linked, the first as it
    is. `stored` takes a run that is stored already, complete and the same to the byte of firmware
    and operations, for one to make. `explained` keeps why the worst of each kind took so long.
    """

    parameters: dict[str, str | int] = field(default_factory=dict)
    knobs: dict[str, int] = field(default_factory=dict)
    boards: tuple[str | None, ...] = (None,)
    samplerate_hz: int | None = None
    stimulus: str | None = None
    seed: int | None = None
    duration_s: float | None = None
    art: tuple[str, ...] = ("on",)
    records: str = "uart"
    ignore_glitches: bool = False
    locking: tuple[str | None, ...] = (None,)
    optimise: tuple[str, ...] = ("-O2",)
    trace: Path | None = None
    scale: int | None = None
    heap_bytes: int | None = None
    capture: str | None = None
    placements: int = 1
    stored: bool = False
    explained: bool = True


def recorded(trace: Path | None, scale: int | None) -> dict[str, str | int]:
    """The parameters of the scenario `recorded` by which it replays a trace, as far as given."""
    return {
        **({"trace": str(trace)} if trace else {}),
        **({"scale": scale} if scale is not None else {}),
    }
