"""`./lab heap worst`: every construction on the allocators that are asked for, with progress."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cli.work import fragmentation, progress
from firmware.build import boards, fit
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.scenario import Scenario
from scenarios.trace import of_steps
from simulator import build as simulator
from studies.worst import board, host
from studies.worst.board import WorstError
from studies.worst.matrix import Cell, Matrix


def run(wanted: Sequence[str], on_host: bool) -> Matrix:
    """The matrix of these allocators; of `all` that can run.

    Raises TailscopeError.
    """
    names, left_out = _choose(wanted, on_host)
    with progress.shown() as tell:
        for sentence in left_out:
            tell.line(sentence)
        takes_all = list(wanted) == ["all"]
        return (_on_host if on_host else _on_board)(names, takes_all, tell)


def _scenario(construction: str) -> Scenario:
    return catalogue.load("worst", {"target": construction}, stimulus="none")


def _choose(wanted: Sequence[str], on_host: bool) -> tuple[Sequence[str], Sequence[str]]:
    if on_host:
        traces = [of_steps(name, _scenario(name).generator.steps()) for name in CONSTRUCTIONS]
        return fragmentation.choose(traces, wanted, host.HEAP_BYTES)
    plans = [_scenario(name).compile() for name in CONSTRUCTIONS]
    return fit.choose_for(boards.default(), plans, wanted)


def _on_board(allocators: Sequence[str], takes_all: bool, tell: progress.Steps) -> Matrix:
    tell("building the virtual Nucleo")
    simulator.build()
    images = []
    counted = progress.Counted(tell, len(allocators))
    for allocator in allocators:
        counted(f"building firmware with {allocator}")
        images.append(firmware.build(allocator))
    counted = progress.Counted(tell, len(allocators) * len(CONSTRUCTIONS))

    def cells_of(allocator: str) -> Iterator[Cell]:
        for name, construction in CONSTRUCTIONS.items():
            counted(f"{name} on {allocator}")
            measured = board.measure(allocator, list(_scenario(name).generator.steps()))
            blocks = construction.blocks[1] if construction.blocks else None
            yield Cell(name, allocator, blocks, measured.instructions, measured)

    cells = _served(allocators, cells_of, takes_all, tell)
    return Matrix("virtual board", images[0].configuration.heap_bytes, tuple(cells))


def _on_host(allocators: Sequence[str], takes_all: bool, tell: progress.Steps) -> Matrix:
    counted = progress.Counted(tell, len(allocators) * len(CONSTRUCTIONS))
    with tempfile.TemporaryDirectory(prefix="tailscope-") as name:
        folder = Path(name)

        def cells_of(allocator: str) -> Iterator[Cell]:
            for construction in CONSTRUCTIONS:
                counted(f"{construction} on {allocator}")
                yield host.cell(construction, allocator, folder)

        cells = _served(allocators, cells_of, takes_all, tell)
        slopes = [host.slope(cell, folder) for cell in cells if cell.construction in host.GROWING]
    return Matrix("this machine (x86, 32 bits)", host.HEAP_BYTES, tuple(cells), tuple(slopes))


def _served(
    allocators: Sequence[str],
    cells_of: Callable[[str], Iterator[Cell]],
    takes_all: bool,
    tell: progress.Steps,
) -> list[Cell]:
    """The cells of each allocator that serves the constructions. With `takes_all` a sentence says
    which do not; else WorstError does.
    """
    cells: list[Cell] = []
    for allocator in allocators:
        try:
            cells += list(cells_of(allocator))
        except WorstError as error:
            if not takes_all:
                raise
            tell.line(f"{allocator} is left out. {error}")
    return cells
