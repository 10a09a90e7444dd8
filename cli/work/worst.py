"""`./lab heap worst`: every construction on the allocators that are asked for, with progress."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from cli.work import choose_allocators, fragmentation, progress
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.scenario import Scenario
from scenarios.trace import of_steps
from simulator import build as simulator
from studies.worst import board, host
from studies.worst.matrix import Cell, Matrix

_Tell = Callable[[str], None]


def run(wanted: Sequence[str], on_host: bool) -> Matrix:
    """The matrix of these allocators; of `all` that can run.

    Raises TailscopeError.
    """
    names, left_out = _choose(wanted, on_host)
    with progress.shown() as tell:
        for sentence in left_out:
            tell.line(sentence)
        return _on_host(names, tell) if on_host else _on_board(names, tell)


def _scenario(construction: str) -> Scenario:
    return catalogue.load("worst", {"target": construction}, stimulus="none")


def _choose(wanted: Sequence[str], on_host: bool) -> tuple[Sequence[str], Sequence[str]]:
    if on_host:
        traces = [of_steps(name, _scenario(name).generator.steps()) for name in CONSTRUCTIONS]
        return fragmentation.choose(traces, wanted, host.HEAP_BYTES)
    return choose_allocators.choose([_scenario(name).compile() for name in CONSTRUCTIONS], wanted)


def _on_board(allocators: Sequence[str], tell: _Tell) -> Matrix:
    tell("building the virtual Nucleo")
    simulator.build()
    images = []
    counted = progress.Counted(tell, len(allocators))
    for allocator in allocators:
        counted(f"building firmware with {allocator}")
        images.append(firmware.build(allocator))
    cells = []
    counted = progress.Counted(tell, len(allocators) * len(CONSTRUCTIONS))
    for allocator in allocators:
        for name, construction in CONSTRUCTIONS.items():
            counted(f"{name} on {allocator}")
            measured = board.measure(allocator, list(_scenario(name).generator.steps()))
            blocks = construction.blocks[1] if construction.blocks else None
            cells.append(Cell(name, allocator, blocks, measured.instructions, measured))
    return Matrix("virtual board", images[0].configuration.heap_bytes, tuple(cells))


def _on_host(allocators: Sequence[str], tell: _Tell) -> Matrix:
    cells, slopes = [], []
    counted = progress.Counted(tell, len(allocators) * len(CONSTRUCTIONS))
    with tempfile.TemporaryDirectory(prefix="tailscope-") as name:
        folder = Path(name)
        for allocator in allocators:
            for construction in CONSTRUCTIONS:
                counted(f"{construction} on {allocator}")
                cells.append(host.cell(construction, allocator, folder))
                if construction in host.GROWING:
                    slopes.append(host.slope(cells[-1], folder))
    return Matrix("this machine (x86, 32 bits)", host.HEAP_BYTES, tuple(cells), tuple(slopes))
