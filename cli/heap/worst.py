"""`./lab heap worst`: each allocator's own worst operations, on every allocator."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.shell import shared, under_way
from cli.shell.declare import answer, declare, json_option, option

if TYPE_CHECKING:
    from studies.worst import Matrix


@declare("What it costs")
@shared.allocator
@option("--host", "on this machine, in a heap of 8 MiB: instructions, and how they grow with free blocks")
@json_option
def command(allocator: list[str], host: bool, as_json: bool) -> None:
    """Build each allocator's own worst allocation and free, and run them on every allocator."""
    matrix = run(allocator, host)
    answer(as_json, matrix.as_json, matrix.as_text)


def run(wanted: Sequence[str], on_host: bool) -> Matrix:
    """The matrix of these allocators; of `all` that can run, where a sentence says which do not.
    Raises TailscopeError.
    """
    from base import heap_size
    from cli.heap import fragmentation
    from firmware.build import boards, fit
    from scenarios import catalogue
    from scenarios.generators.worst import CONSTRUCTIONS
    from scenarios.trace import of_steps
    from simulator import build as simulator
    from studies import worst

    loaded = {name: catalogue.load("worst", {"target": name}, stimulus="none") for name in CONSTRUCTIONS}
    if on_host:
        traces = [of_steps(name, scenario.generator.steps()) for name, scenario in loaded.items()]
        names, left_out = fragmentation.choose(traces, wanted, worst.HEAP_BYTES)
    else:
        plans = [scenario.compile() for scenario in loaded.values()]
        names, left_out = fit.choose_for(boards.default(), plans, wanted)
    with under_way.shown() as tell, tempfile.TemporaryDirectory(prefix="tailscope-") as temporary:
        folder = Path(temporary)
        tell.line(*left_out)
        if not on_host:
            simulator.build(tell)
        counted = under_way.Counted(tell, len(names) * len(CONSTRUCTIONS))

        def cell(construction: str, allocator: str) -> worst.Cell:
            counted(f"{construction} on {allocator}")
            if on_host:
                return worst.on_host(construction, allocator, folder)
            return worst.on_board(construction, allocator)

        cells: list[worst.Cell] = []
        for name in names:
            try:
                cells += [cell(construction, name) for construction in CONSTRUCTIONS]
            except worst.WorstError as error:
                if list(wanted) != ["all"]:
                    raise
                tell.line(f"{name} is left out. {error}")
        if not on_host:
            return worst.Matrix("virtual board", heap_size.DEFAULT_BYTES, cells)
        slopes = [worst.slope(each, folder) for each in cells if each.construction in worst.GROWING]
        return worst.Matrix("this machine (x86, 32 bits)", worst.HEAP_BYTES, cells, slopes)
