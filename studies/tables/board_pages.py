"""What a board is, and what it takes on the virtual board: the tables of its page.

`python -m studies.tables.board_pages` writes them into docs/boards, between two comments of each
page.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from base.paths import ROOT
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from base.run_folder.quantities import DWT_CYCLES
from firmware.build import boards
from firmware.build.boards import Board
from studies.tables.boards import run_on

PAGES = ROOT / "docs" / "boards"
BEGIN, END = "<!-- made by studies.tables.board_pages -->", "<!-- end -->"
SCENARIOS = ("mem_stress", "mem_frag")
ALLOCATORS = ("tlsf", "heap_4")


def pages() -> Iterator[tuple[Board, Path]]:
    """Each board that comes with the bench and has a page."""
    for name in boards.names():
        page = PAGES / f"{name}.md"
        if page.exists():
            yield boards.board(name), page


def facts(board: Board) -> list[str]:
    """The rows of the first table, of the board's own table."""
    clock, memory = board.clock, board.memory
    osc_in = "the ST-Link's 8 MHz" if clock.at_osc_in == "clock" else "nothing, as it is sold"
    return [
        "| | |",
        "|---|---|",
        f"| core | {board.core_hz // 1_000_000} MHz, {board.core} |",
        f"| at OSC_IN | {osc_in} |",
        f"| flash | {memory.flash_bytes >> 10:,} KiB; wait states: {clock.wait_states} |",
        f"| SRAM | {memory.sram_bytes >> 10} KiB |",
        f"| APB1 | {board.apb1_hz // 1_000_000} MHz |",
        f"| pyOCD's target | `{board.pyocd_target}` |",
    ]


def figures(board: Board) -> list[str]:
    """The rows of the second table, measured anew. Raises TailscopeError."""
    return [
        "| scenario | allocator | section, cycles: median | longest | on the wire, ns | waits, ns |",
        "|---|---|---:|---:|---:|---:|",
        *(row(board, scenario, allocator) for scenario in SCENARIOS for allocator in ALLOCATORS),
    ]


def row(board: Board, scenario: str, allocator: str) -> str:
    """One line of it."""
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        run = run_on(board, scenario, allocator, Path(folder), {})
        summaries = read_manifest(run / MANIFEST).statistics
    cycles, section, waits = (
        summaries[key] for key in (DWT_CYCLES.key, "critical_ns", "interrupt_latency_ns")
    )
    cells = (cycles.median, cycles.max, section.max, waits.max)
    return f"| `{scenario}` | {allocator} | " + " | ".join(f"{cell or 0:,.0f}" for cell in cells) + " |"


def with_tables(page: str, board: Board) -> str:
    """The text of a page with its tables made anew. Raises TailscopeError."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [*facts(board), "", *figures(board)]
    return before + "\n".join([BEGIN, "", *lines, "", END]) + after


def main() -> None:
    """Writes the tables of all pages."""
    for board, page in pages():
        page.write_text(with_tables(page.read_text(encoding="utf-8"), board), encoding="utf-8")
        print(page.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    main()
