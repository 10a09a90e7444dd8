"""One allocator on every board that comes with the bench: seglist and TLSF search a ramp of freed
blocks on each virtual board, with the same operations.

`./lab dev across` prints the tables of docs/reference/one-allocator-across-cores.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from analysis.compare.boards import tables
from analysis.compare.boards.across import Across, across
from analysis.compare.rows import Rows
from base.files.errors import TailscopeError
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.conduct import run as conduct
from firmware.build import boards, region
from firmware.build import image as firmware
from firmware.build.boards import Board
from scenarios import catalogue

SCENARIO = "mem_frag"
ALLOCATORS = ("seglist", "tlsf")
DEPTH = 24
"""As deep as the board with the least SRAM has room for."""
_RUN = "run"


def steps() -> int:
    """How many runs there are."""
    return len(boards.names()) * len(ALLOCATORS)


def measured(runs: Path, tell: Callable[[str], None] = lambda _: None) -> Across:
    """A run on each board with each allocator, in the folder `runs`. `tell` hears of each as it
    begins. Raises TailscopeError where a run is not complete.
    """
    for name in boards.names():
        board = boards.board(name)
        for allocator in ALLOCATORS:
            tell(f"{SCENARIO} on {allocator}, {name}")
            run_on(board, SCENARIO, allocator, runs, {"depth": DEPTH})
    return across([runs])


def run_on(board: Board, scenario: str, allocator: str, runs: Path, parameters: Mapping[str, int]) -> Path:
    """The folder, in `runs`, of a run on the virtual board. Raises TailscopeError where it is not
    complete.
    """
    plan = catalogue.load(scenario, parameters).compile(region.place(board))
    image = firmware.build(allocator, heap_bytes=plan.heap_bytes, board=board.word)
    done = conduct(Direct(RunRequest(plan, image, board=f"virtual:{board.word}", runs=runs)))
    if done.verdict != "complete":
        raise TailscopeError(
            f"{scenario} on {allocator}, {board.name}: {done.verdict}. {' '.join(done.reasons)}"
        )
    return done.folder


def markdown(found: Across) -> str:
    """The tables, but for the names of the runs, which have the time in them."""
    return "\n\n".join(_table(rows) for rows in tables.every(found))


def _table(rows: Rows) -> str:
    columns = [place for place, heading in enumerate(rows.headings) if heading != _RUN]
    headings = (rows.headings[place] for place in columns)
    bars = ("---:" if place in rows.numbers else "---" for place in columns)
    lines = (_line(line[place] for place in columns) for line in rows.lines)
    return "\n".join([f"**{rows.title}**", "", _line(headings), _line(bars), *lines])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
