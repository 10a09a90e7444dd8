"""`./lab heap worst`: each allocator's own worst operations, on every allocator."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.shell import shared
from cli.shell.declare import answer, declare, json_option, option

if TYPE_CHECKING:
    from cli.shell.under_way import Steps
    from scenarios.generators.worst import Construction
    from scenarios.scenario import Scenario
    from studies.worst.matrix import Cell, Matrix


@declare(section="What it costs")
@shared.allocator
@option(
    "--host",
    is_flag=True,
    help="on this machine, in a heap of 8 MiB: instructions, and how they grow with free blocks",
)
@json_option
def command(allocator: list[str], host: bool, as_json: bool) -> None:
    """Build each allocator's own worst allocation and free, and run them on every allocator."""
    from studies.worst import text

    matrix = run(allocator, host)
    answer(as_json, matrix.as_json, lambda: text.as_text(matrix))


def run(wanted: Sequence[str], on_host: bool) -> Matrix:
    """The matrix of these allocators; of `all` that can run. Raises TailscopeError."""
    from cli.heap import fragmentation
    from cli.shell import under_way
    from firmware.build import boards, fit
    from scenarios.trace import of_steps
    from studies.worst import host

    if on_host:
        traces = [of_steps(name, _scenario(name).generator.steps()) for name in constructions()]
        names, left_out = fragmentation.choose(traces, wanted, host.HEAP_BYTES)
    else:
        plans = [_scenario(name).compile() for name in constructions()]
        names, left_out = fit.choose_for(boards.default(), plans, wanted)
    with under_way.shown() as tell:
        for sentence in left_out:
            tell.line(sentence)
        takes_all = list(wanted) == ["all"]
        return (_on_host if on_host else _on_board)(names, takes_all, tell)


def constructions() -> Mapping[str, Construction]:
    """What is built, by name."""
    from scenarios.generators.worst import CONSTRUCTIONS

    return CONSTRUCTIONS


def _scenario(construction: str) -> Scenario:
    from scenarios import catalogue

    return catalogue.load("worst", {"target": construction}, stimulus="none")


def _on_board(allocators: Sequence[str], takes_all: bool, tell: Steps) -> Matrix:
    from cli.shell.under_way import Counted
    from firmware.build import image as firmware
    from simulator import build as simulator
    from studies.worst import board
    from studies.worst.matrix import Cell, Matrix

    simulator.build(tell)
    images = []
    counted = Counted(tell, len(allocators))
    for allocator in allocators:
        counted(f"firmware with {allocator}")
        images.append(firmware.build(allocator))
    counted = Counted(tell, len(allocators) * len(constructions()))

    def cells_of(allocator: str) -> Iterator[Cell]:
        for name, construction in constructions().items():
            counted(f"{name} on {allocator}")
            measured = board.measure(allocator, list(_scenario(name).generator.steps()))
            blocks = construction.blocks[1] if construction.blocks else None
            yield Cell(name, allocator, blocks, measured.instructions, measured)

    cells = _served(allocators, cells_of, takes_all, tell)
    return Matrix("virtual board", images[0].configuration.heap_bytes, tuple(cells))


def _on_host(allocators: Sequence[str], takes_all: bool, tell: Steps) -> Matrix:
    from cli.shell.under_way import Counted
    from studies.worst import host
    from studies.worst.matrix import Matrix

    counted = Counted(tell, len(allocators) * len(constructions()))
    with tempfile.TemporaryDirectory(prefix="tailscope-") as name:
        folder = Path(name)

        def cells_of(allocator: str) -> Iterator[Cell]:
            for construction in constructions():
                counted(f"{construction} on {allocator}")
                yield host.cell(construction, allocator, folder)

        cells = _served(allocators, cells_of, takes_all, tell)
        slopes = [host.slope(cell, folder) for cell in cells if cell.construction in host.GROWING]
    return Matrix("this machine (x86, 32 bits)", host.HEAP_BYTES, tuple(cells), tuple(slopes))


def _served(
    allocators: Sequence[str], cells_of: Callable[[str], Iterator[Cell]], takes_all: bool, tell: Steps
) -> list[Cell]:
    """The cells of each allocator that serves the constructions. With `takes_all` a sentence says
    which do not; else WorstError does.
    """
    from studies.worst.board import WorstError

    cells: list[Cell] = []
    for allocator in allocators:
        try:
            cells += list(cells_of(allocator))
        except WorstError as error:
            if not takes_all:
                raise
            tell.line(f"{allocator} is left out. {error}")
    return cells
