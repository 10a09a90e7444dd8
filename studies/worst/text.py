"""The matrix for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from base.microseconds import digits
from scenarios.generators.worst import ABSENT
from studies.worst.matrix import Cell, Matrix, constructions

_WIDTH_COLUMNS = 120
_ALLOCATORS_ACROSS = 7


def as_text(matrix: Matrix) -> str:
    """Tables of all cells, then each allocator's own worst."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False)
    unit = "cycles / instructions" if matrix.cells[0].measured else "instructions"
    with console.capture() as captured:
        console.print(
            f"{matrix.platform}, a heap of {matrix.heap_bytes:,} bytes: {unit} of one critical section"
            if matrix.cells[0].measured
            else f"{matrix.platform}, a heap of {matrix.heap_bytes:,} bytes: {unit} of one operation",
            "* the allocator's own worst    ^ most of all allocators in this row",
            sep="\n",
        )
        for frees in (False, True):
            for across in _chunks(matrix.allocators):
                console.print("", _cells(matrix, across, frees), sep="\n")
        console.print(*(f"{name}: {why}." for name, why in ABSENT.items()), sep="\n")
        if matrix.slopes:
            for across in _chunks(matrix.allocators):
                console.print("", _slopes(matrix, across), sep="\n")
        console.print("", _own(matrix), sep="\n")
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _chunks(allocators: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(allocators), _ALLOCATORS_ACROSS):
        yield allocators[start : start + _ALLOCATORS_ACROSS]


def _cells(matrix: Matrix, allocators: Sequence[str], frees: bool) -> Table:
    table = _table("worst free" if frees else "worst allocation", allocators)
    for name in constructions(frees):
        cells = [matrix.cell(name, allocator) for allocator in allocators]
        table.add_row(name, *(_cell(matrix, cell) for cell in cells))
    return table


def _cell(matrix: Matrix, cell: Cell) -> str:
    own = "*" if matrix.is_own_worst(cell) else ""
    most = "^" if matrix.is_most(cell) else ""
    refused = " O" if cell.measured and cell.measured.kind == "O" else ""
    numbers = f"{cell.cost}/{cell.instructions}" if cell.measured else f"{cell.instructions}"
    return f"{own}{most}{numbers}{refused}"


def _slopes(matrix: Matrix, allocators: Sequence[str]) -> Table:
    """Instructions for each further free block."""
    table = _table("instructions per free block", allocators)
    slopes = {(slope.construction, slope.allocator): slope for slope in matrix.slopes}
    for name in dict.fromkeys(slope.construction for slope in matrix.slopes):
        values = [slopes[name, allocator].instructions_per_block for allocator in allocators]
        table.add_row(name, *(f"{value:.2f}" if abs(value) >= 0.005 else "flat" for value in values))
    return table


def _own(matrix: Matrix) -> Table:
    on_board = matrix.cells[0].measured is not None
    wire = ("cycles", "pulse µs", "interrupt µs", "task µs") if on_board else ()
    table = _table("own worst", ())
    for heading in ("", "construction", "instructions", *wire):
        table.add_column(heading, justify="left" if heading in ("", "construction") else "right")
    for allocator in matrix.allocators:
        for frees in (False, True):
            cell = matrix.own_worst(allocator, frees)
            words = [allocator, "free" if frees else "allocate", cell.construction, str(cell.instructions)]
            table.add_row(*map(Text, [*words, *_wire(cell)]))
    return table


def _wire(cell: Cell) -> list[str]:
    measurement = cell.measured
    if measurement is None:
        return []
    times = (measurement.pulse_ns, measurement.interrupt_latency_ns, measurement.task_latency_ns)
    return [str(measurement.cycles), *(digits(time) for time in times)]


def _table(heading: str, columns: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(heading, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table
