"""Options that several commands have, each declared once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from cli.shell.declare import option
from cli.shell.values import (
    ALLOCATORS,
    BEGIN,
    BOARD,
    BOARDS,
    FILE,
    HEAP,
    KNOB,
    PARAMETER,
    SAMPLERATE,
    SCALE,
    SEED,
    STIMULUS,
    WHOLE,
    choice,
)

Command = Callable[..., Any]

RECORDS = ("uart", "rtt")
"""As scenarios.operations has them, which takes a while to load."""
USUAL_TWO = "seglist,tlsf"

_SEVERAL = "one or more allocators, separated by commas, or all"

allocator = option("--allocator", type=ALLOCATORS, default="all", help=_SEVERAL)
allocator_of_two = option("--allocator", type=ALLOCATORS, default=USUAL_TWO, help=_SEVERAL)
allocator_file = option(
    "--allocator",
    type=FILE,
    metavar="FILE",
    help="of a run on an allocator from outside: its C file, where this machine did not build it",
)
any_core = option(
    "--any-core",
    is_flag=True,
    help="run a program that was made for another core, such as a Cortex-M0, all the same",
)
attach = option(
    "--attach",
    metavar="WHERE=FILE",
    multiple=True,
    help="what hangs on the chip: i2c1=eeprom.toml, spi1:pa4=sensor.toml, usart1=modem.toml, pa0=edges.csv; "
    "may be repeated (docs/reference/partners.md)",
)
board = option(
    "--board",
    type=BOARD,
    help="a board of `./lab list`, or the path of its TOML; or virtual:NAME, another board simulated; "
    "bench.toml's default when not given",
)
boards = option(
    "--board",
    "boards",
    type=BOARDS,
    help="a board of `./lab list`, or the path of its TOML; or virtual:NAME, another board simulated; "
    "several with commas for a run on each; bench.toml's default when not given",
)
begin = option(
    "--from",
    "start",
    type=BEGIN,
    help="from when on it counts: start (the kernel's scheduler, else main), reset, a function, a time",
)
chip = option(
    "--chip",
    metavar="NAME|FILE.toml",
    default="",
    show_default=False,
    help="the chip of the program, such as stm32f411re, or a table of one; stm32f401re when not given",
)
gaps = option(
    "--gaps",
    is_flag=True,
    help="go on past what the virtual board cannot do, too: a first try if the run stops at something",
)
heap = option(
    "--heap",
    "heap_bytes",
    type=HEAP,
    help="bytes of the heap's region, a multiple of 8; the scenario's own, or 65536, when not given",
)
hse = option(
    "--hse",
    metavar="HZ|none",
    default="",
    show_default=False,
    help="the crystal's frequency in Hz, or none; the board's when not given",
)
ignore_glitches = option(
    "--ignore-glitches",
    is_flag=True,
    help="leave out pulses that are too short to be the firmware's, and say how many",
)
jobs = option(
    "--jobs",
    type=WHOLE,
    default=lambda: os.cpu_count() or 1,
    show_default="all cores",
    help="how many processes share the work",
)
kernel = option(
    "--kernel",
    metavar="NAME|FILE|none",
    default="",
    show_default=False,
    help="the program's kernel, or a TOML file that tells of it; recognised when not given",
)
knob = option(
    "--knob",
    type=KNOB,
    multiple=True,
    help="NAME=VALUE of the allocator's build (firmware/heap/catalogue.toml); may be repeated",
)
parameter = option(
    "--parameter",
    type=PARAMETER,
    multiple=True,
    help="NAME=VALUE of the scenario: bytes as 2k or 2KiB, too, cycles as 10us; may be repeated",
)
records = option(
    "--records",
    type=choice(*RECORDS),
    default="uart",
    help="what carries the records: uart, or rtt through the debug probe",
)
samplerate = option(
    "--samplerate",
    "samplerate_hz",
    type=SAMPLERATE,
    help="samples per second, e.g. 24000000 or 24m; bench.toml's when not given",
)
scale = option(
    "--scale",
    type=SCALE,
    help="keep one block in so many of the trace; auto: as many as fit the board",
)
seed = option("--seed", type=SEED, help="seed of the scenario's generator")
semihosting = option(
    "--semihosting",
    is_flag=True,
    help="answer the program's calls to its host; what it prints is not shown",
)
strict = option(
    "--strict",
    is_flag=True,
    help="stop at the first thing that the manual does not allow, or that is not modelled",
)
stimulus = option(
    "--stimulus",
    type=STIMULUS,
    help="none, periodic, sweep, random or burst; or MODE:PERIOD[,CONTROL] in timer ticks",
)
trace = option(
    "--trace",
    type=FILE,
    help="a file of operations, which the scenario `recorded` replays (docs/how-to/traces.md)",
)


def own_program(command: Command) -> Command:
    """The options of somebody's own program on the virtual board (simulator.program)."""
    for add in (attach, any_core, semihosting, gaps, strict, hse, chip):
        command = add(command)
    return command
