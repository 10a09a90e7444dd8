"""The matrix for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from base.microseconds import digits
from base.text_table import TextTable, printed
from scenarios.generators.worst import ABSENT
from studies.worst.matrix import Cell, Matrix, constructions

_ALLOCATORS_ACROSS = 7


def as_text(matrix: Matrix) -> str:
    """Tables of all cells, then each allocator's own worst."""
    on_board = matrix.cells[0].measured is not None
    unit = "cycles / instructions of one critical section" if on_board else "instructions of one operation"
    every = matrix.allocators
    chunks = [every[at : at + _ALLOCATORS_ACROSS] for at in range(0, len(every), _ALLOCATORS_ACROSS)]
    kinds = {"worst allocation": False, "worst free": True}
    cells = [
        _across(title, across, {name: [_cell(matrix, name, each) for each in across] for name in names})
        for title, frees in kinds.items()
        for names in [constructions(frees)]
        for across in chunks
    ]
    return printed(
        [
            f"{matrix.platform}, a heap of {matrix.heap_bytes:,} bytes: {unit}",
            "* the allocator's own worst    ^ most of all allocators in this row",
            *cells,
            "",
            *(f"{name}: {why}." for name, why in ABSENT.items()),
            *(_slopes(matrix, across) for across in chunks if matrix.slopes),
            _own(matrix, on_board),
        ]
    )


def _across(title: str, allocators: Sequence[str], cells: Mapping[str, Sequence[str]]) -> TextTable:
    """A line for each construction, a column for each allocator."""
    lines = [(name, *line) for name, line in cells.items()]
    return TextTable("", (title, *allocators), lines, range(1, len(allocators) + 1))


def _cell(matrix: Matrix, construction: str, allocator: str) -> str:
    cell = matrix.cell(construction, allocator)
    own = "*" if matrix.is_own_worst(cell) else ""
    most = "^" if matrix.is_most(cell) else ""
    refused = " O" if cell.measured and cell.measured.kind == "O" else ""
    return f"{own}{most}{f'{cell.cost}/' if cell.measured else ''}{cell.instructions}{refused}"


def _slopes(matrix: Matrix, allocators: Sequence[str]) -> TextTable:
    slopes = {(slope.construction, slope.allocator): slope.instructions_per_block for slope in matrix.slopes}
    cells = {
        name: [f"{value:.2f}" if abs(value := slopes[name, each]) >= 0.005 else "flat" for each in allocators]
        for name in dict.fromkeys(slope.construction for slope in matrix.slopes)
    }
    return _across("instructions per free block", allocators, cells)


def _own(matrix: Matrix, on_board: bool) -> TextTable:
    wire = ("cycles", "pulse µs", "interrupt µs", "task µs") if on_board else ()
    worst = [matrix.own_worst(allocator, frees) for allocator in matrix.allocators for frees in (False, True)]
    lines = [
        (
            cell.allocator,
            "free" if cell.frees else "allocate",
            cell.construction,
            str(cell.instructions),
            *_wire(cell),
        )
        for cell in worst
    ]
    return TextTable("", ("own worst", "", "construction", "instructions", *wire), lines, range(3, 8))


def _wire(cell: Cell) -> list[str]:
    measurement = cell.measured
    if measurement is None:
        return []
    times = (measurement.pulse_ns, measurement.interrupt_latency_ns, measurement.task_latency_ns)
    return [str(measurement.cycles), *map(digits, times)]
