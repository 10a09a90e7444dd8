"""Searches, confirmed on the virtual board, beside the worst cases that are known: a row for each
allocator and each question."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from analysis.bounds.image import code_bounds
from analysis.fragmentation.metrics import metrics
from base import heap_size
from base.microseconds import digits
from base.paths import ROOT
from base.text_table import TextTable, printed
from firmware.build import catalogue, host_heap
from firmware.build import image as firmware
from firmware.build.host_heap import Replay
from firmware.build.host_search import Goal, Progress, Ranking
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, Operations, Trace
from studies.adversary.known import spread, worst_cases
from studies.adversary.search import (
    SMALLEST_SPREAD_BYTES,
    Budget,
    Section,
    What,
    longest,
    objection,
    run,
)


@dataclass(frozen=True)
class Space:
    """The spread of a list's blocks on the PC."""

    used_bytes: int
    peak_live_bytes: int


@dataclass(frozen=True)
class Row:
    """The worst found on one allocator, beside the known worst case and the bound.

    `lists` is how many were tried on the PC. `bound_instructions` and `bound_cycles` are those of
    the machine code, None where there is none; `why_no_bound` then says why.
    """

    allocator: str
    what: What
    seed: int
    lists: int
    found: Section | Space
    known_case: str
    known: Section | Space
    operations: Operations = field(repr=False)
    bound_instructions: int | None = None
    bound_cycles: int | None = None
    why_no_bound: str | None = None

    @property
    def found_over_known(self) -> float:
        """The ratio of instructions, or of used bytes."""
        return _size(self.found) / _size(self.known)

    @property
    def found_over_bound(self) -> float | None:
        return None if self.bound_instructions is None else _size(self.found) / self.bound_instructions

    @property
    def file(self) -> str:
        """The name of the file of its operations."""
        return _FILE.format(self.allocator, self.what)

    def as_json(self) -> dict[str, Any]:
        """The row as the document has it."""
        ratios = {"found_over_known": self.found_over_known, "found_over_bound": self.found_over_bound}
        return {**asdict(self), **ratios, "operations": len(self.operations)}

    def trace(self) -> str:
        """The operations as a trace, behind a comment that says what they are."""
        last = "The last operation is the worst." if self.what != "fragmentation" else "Few bytes, far apart."
        lines = [
            f"# The worst that was found for {self.allocator}, {self.what}, on a heap of 64 KiB. {last}",
            f"# ./lab heap adversary --allocator {self.allocator} --what {self.what}, "
            f"seed {self.seed}, {self.lists} lists",
            *(
                f"a,{slot},{size}" if kind == ALLOCATE else f"f,{slot}"
                for kind, slot, size, _ in self.operations.tolist()
            ),
        ]
        return "".join(f"{line}\n" for line in lines)


_FILE = "{}-{}.csv"


def _size(figure: Section | Space) -> int:
    return figure.instructions if isinstance(figure, Section) else figure.used_bytes


def replay(allocator: str, operations: Operations) -> Replay:
    """Runs the list in a heap of this machine, which proves that no blocks overlap. Raises
    HostHeapError.
    """
    program = host_heap.build(allocator, heap_size.DEFAULT_BYTES)
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        file = host_heap.write(operations, Path(folder) / "operations")
        return host_heap.run(program, file, heap_size.DEFAULT_BYTES)


def space(allocator: str, operations: Operations) -> Space:
    """The spread of the list's blocks. Raises HostHeapError."""
    figures = metrics(operations, replay(allocator, operations))
    return Space(figures.used_bytes, figures.peak_live_bytes)


CONFIRMED: dict[Ranking, int] = {"ways": 12, "scale": 12}
"""How many of a search's winners are run on the board, which says which is the dearest. Those of
each scale too: one set of basic blocks may run in many ways, whose order on the PC is another."""

OnProgress: TypeAlias = Callable[[str, What, Progress], None]


class Study(NamedTuple):
    """The question. `jobs` searches go on at a time; the rows do not depend on it.

    `live_bytes` is the most that may be live where blocks are to be spread.
    """

    pairs: Sequence[tuple[str, What]]
    budget: Budget
    seed: int
    live_bytes: int
    jobs: int = 1

    def rows(self, tell: OnProgress = lambda *_: None) -> Iterator[Row]:
        """The rows in the order of the pairs. `tell` hears the progress of each search.

        Raises BuildError, HostHeapError, SimulatorError, WriteError, signals.Stopped.
        """
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(lambda pair: self._row(pair[0], pair[1], tell), self.pairs)

    def _row(self, allocator: str, what: What, tell: OnProgress) -> Row:
        heard = partial(tell, allocator, what)
        search = partial(run, allocator, what, self.seed, self.live_bytes, self.budget, heard)
        if what == "fragmentation":
            lists, (operations,) = search({"ways": 1})
            known_spread = spread(self.live_bytes, SMALLEST_SPREAD_BYTES).operations
            return Row(
                *(allocator, what, self.seed, lists, space(allocator, operations)),
                *("spread", space(allocator, known_spread), operations),
                why_no_bound="The machine code bounds time and not space.",
            )
        known_case, known = max(
            ((trace, of_goal[what]) for trace, of_goal in _known(allocator) if what in of_goal),
            key=lambda case: case[1].instructions,
        )
        lists, winners = 0, [known_case.operations]
        if not catalogue.row(allocator, host_heap.HostHeapError).target_only:
            lists, others = search(CONFIRMED)
            winners += others
        measured = [(section, array) for array in winners if (section := longest(allocator, array).get(what))]
        found, operations = max(measured, key=lambda pair: pair[0].instructions)
        image = firmware.build(allocator)
        built = image.configuration
        bound = code_bounds(image.elf, allocator, built.knobs, built.flash_acr, MAX_SLOTS)[what]
        return Row(
            *(allocator, what, self.seed, lists, found, known_case.name, known),
            operations[: found.operation + 1],
            *(bound.instructions, bound.cycles, bound.why_not),
        )


@cache
def _known(allocator: str) -> Sequence[tuple[Trace, Mapping[Goal, Section]]]:
    """The known worst cases, each with the longest sections of this allocator. Raises
    SimulatorError.
    """
    return [(trace, longest(allocator, trace.operations)) for trace in worst_cases()]


# The rows as tables: of time and of space, for the terminal and as files.


TIME_COLUMNS = (
    *("allocator", "of", "known worst", "known", "found", "wire, µs"),
    *("found/known", "bound", "found/bound"),
)
SPACE_COLUMNS = ("allocator", "known", "found", "live", "found/live", "found/known")
Cell: TypeAlias = str | int | None


def as_text(rows: Sequence[Row]) -> str:
    """The tables that there are rows for."""
    tables = [
        TextTable(
            title,
            columns,
            [[f"{cell:,}" if isinstance(cell, int) else cell or "-" for cell in line] for line in cells],
            range(first_number, len(columns)),
        )
        for title, columns, cells, first_number in (
            ("longest critical sections, in instructions on the board", TIME_COLUMNS, time_cells(rows), 3),
            ("bytes between the ends of the blocks", SPACE_COLUMNS, space_cells(rows), 1),
        )
        if cells
    ]
    return printed(tables).lstrip("\n")


def time_cells(rows: Iterable[Row]) -> list[list[Cell]]:
    """A line of TIME_COLUMNS for each row of time."""
    return [
        [
            *(row.allocator, row.what, row.known_case, row.known.instructions, row.found.instructions),
            digits(row.found.wire_ns),
            f"{row.found_over_known:.2f}",
            row.bound_instructions,
            None if row.found_over_bound is None else f"{row.found_over_bound:.3f}",
        ]
        for row in rows
        if isinstance(row.found, Section) and isinstance(row.known, Section)
    ]


def space_cells(rows: Iterable[Row]) -> list[list[Cell]]:
    """A line of SPACE_COLUMNS for each row of space."""
    return [
        [
            *(row.allocator, row.known.used_bytes, row.found.used_bytes, row.found.peak_live_bytes),
            f"{row.found.used_bytes / row.found.peak_live_bytes:.2f}",
            f"{row.found_over_known:.2f}",
        ]
        for row in rows
        if isinstance(row.found, Space) and isinstance(row.known, Space)
    ]


# The tables of docs/how-to/adversary.md, which `python -m studies.tables` makes anew.


FOUND = ROOT / "scenarios" / "found.zip"
"""The winners of the tables, one a file."""
SEED, LISTS, LIVE_BYTES = 1, 12_000, 8192


def winner(allocator: str, what: What, folder: Path) -> Path:
    """The file of a stored winner, unpacked to `folder`. Raises KeyError where there is none."""
    with ZipFile(FOUND) as archive:
        return Path(archive.extract(_FILE.format(allocator, what), folder))


def rows_of(*whats: What) -> Iterator[Row]:
    """The rows of these questions of every allocator; the winners go to FOUND, and those of other
    questions stay there.
    """
    pairs = [
        (name, what) for name in catalogue.allocators() for what in whats if objection(name, what) is None
    ]
    with ZipFile(FOUND) as archive:
        winners = {name: archive.read(name).decode() for name in archive.namelist()}
    for row in Study(pairs, Budget(lists=LISTS), SEED, LIVE_BYTES).rows():
        winners[row.file] = row.trace()
        yield row
    with ZipFile(FOUND, "w") as archive:
        for name, text in sorted(winners.items()):
            archive.writestr(ZipInfo(name), text, ZIP_DEFLATED)
