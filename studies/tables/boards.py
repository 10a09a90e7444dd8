"""Every board that comes with the bench: its facts, and one allocator across all.

seglist and TLSF search a ramp of freed blocks on each virtual board, with the same operations:
`./lab dev across` writes these results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

from analysis.compare import boards as tables
from analysis.compare.boards import Across, across
from base.files import results
from base.files.errors import TailscopeError
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.conduct import run as conduct
from firmware.build import boards, fit
from firmware.build import image as firmware
from scenarios import catalogue

SCENARIO = "mem_frag"
ALLOCATORS = ("seglist", "tlsf")
DEPTH = 24
"""As deep as the board with the least SRAM has room for."""
ACROSS = ("across-seglist", "across-tlsf")

FACTS = ("board", "core", "at OSC_IN", "flash", "SRAM", "APB1", "pyOCD's target")


def steps() -> int:
    """How many runs there are."""
    return len(boards.names()) * len(ALLOCATORS)


def measured(runs: Path, tell: Callable[[str], None] = lambda _: None) -> Across:
    """A run on each board with each allocator, in the folder `runs`. `tell` hears of each as it
    begins. Raises TailscopeError where a run is not complete.
    """
    for name, allocator in product(boards.names(), ALLOCATORS):
        board = boards.board(name)
        tell(f"{SCENARIO} on {allocator}, {name}")
        plan = catalogue.load(SCENARIO, {"depth": DEPTH}).compile(fit.place(board))
        image = firmware.build(allocator, heap_bytes=plan.heap_bytes, board=board.word)
        done = conduct(Direct(RunRequest(plan, image, board=f"virtual:{board.word}", runs=runs)))
        if done.verdict != "complete":
            raise TailscopeError(
                f"{SCENARIO} on {allocator}, {board.name}: {done.verdict}. {' '.join(done.reasons)}"
            )
    return across([runs])


def results_of(measured: Across) -> Iterator[results.Result]:
    """The tables, with numbers as programs read them, but without the names of runs, which have the
    time in them.
    """
    for name, rows in zip(ACROSS, tables.tables(measured), strict=True):
        yield name, ["figure", *rows.headings[1:]], [[*map(_plain, line)] for line in rows.lines[:-1]]


def _plain(cell: str) -> str:
    """1,794 as 1794, and −0.01 as -0.01; words as they are."""
    number = cell.replace(",", "").replace("\N{MINUS SIGN}", "-")
    return number if re.fullmatch(r"-?[0-9.]+", number) else cell


_AT_OSC_IN = {
    "clock": "the ST-Link's {mhz} MHz",
    "crystal": "a crystal of {mhz} MHz",
    "nothing": "nothing, as it is sold",
}


def facts() -> Iterator[tuple[object, ...]]:
    """A row of FACTS for each board, of its table."""
    for board in map(boards.board, boards.names()):
        clock, memory = board.clock, board.memory
        yield (
            board.title,
            f"{board.core_hz // 1_000_000} MHz, {board.core}",
            _AT_OSC_IN[clock.at_osc_in].format(mhz=clock.hse_hz // 1_000_000),
            f"{memory.flash_bytes >> 10} KiB; wait states: {clock.wait_states}",
            f"{memory.sram_bytes >> 10} KiB",
            f"{board.apb1_hz // 1_000_000} MHz",
            board.pyocd_target,
        )
