"""The choice as a table for the terminal, and what is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console
from rich.table import Table

from analysis.choice.candidates import Candidate, Choice
from base.microseconds import UNIT, digits, microseconds

_WIDTH_COLUMNS = 100
_COLUMNS: tuple[tuple[str, Callable[[Candidate], float | None], Callable[[float], str]], ...] = (
    (f"wait {UNIT}", lambda row: row.wait_ns, digits),
    (f"bound {UNIT}", lambda row: row.bound_ns, digits),
    ("smallest heap", lambda row: row.smallest_heap_bytes, "{:,}".format),
    ("static RAM", lambda row: row.static_ram_bytes, "{:,}".format),
    ("flash", lambda row: row.flash_bytes, "{:,}".format),
)


def as_text(choice: Choice) -> str:
    """The sentence, the table, what its columns are of, and what was not measured."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in ("allocator", "standing", *(heading for heading, _, _ in _COLUMNS), "lock"):
        table.add_column(heading, justify="left" if heading in _WORDS else "right", no_wrap=True)
    for row in choice.candidates:
        figures = [_cell(figure(row), form) for _, figure, form in _COLUMNS]
        table.add_row(row.allocator, choice.standing(row), *figures, row.locking or "-")
    console = Console(width=_WIDTH_COLUMNS, highlight=False)
    with console.capture() as captured:
        console.print(choice.sentence, "", table, "", *_notes(choice), sep="\n", markup=False)
    return captured.get().rstrip()


_WORDS = ("allocator", "standing", "lock")


def _cell(value: float | None, form: Callable[[float], str]) -> str:
    return "-" if value is None else form(value)


def _notes(choice: Choice) -> Iterator[str]:
    budgets = [row.budget_ns for row in choice.candidates if row.budget_ns is not None]
    within = f", ±{microseconds(max(budgets))}" if budgets else ""
    yield (
        f"limit {microseconds(choice.limit_ns)}, heap {choice.heap_bytes:,} bytes, {choice.board}. wait: "
        f"the longest possible{within}: the longest section seen, with what interrupted it, and the entry; "
        "or a longer wait that was seen. bound: the most by the machine code, without interrupts within, and "
        "the entry. smallest heap: serves all these requests. Sizes in bytes."
    )
    waiting = [row.allocator for row in choice.candidates if row.locking == "scheduler"]
    if waiting:
        yield f"{', '.join(waiting)}: the lock suspends the scheduler, so tasks wait, and interrupts do not."
    yield from choice.notes
    by_reason: dict[str, list[str]] = {}
    for row in choice.candidates:
        for reason in row.missing:
            by_reason.setdefault(reason, []).append(row.allocator)
    yield from (f"Not measured of {', '.join(names)}. {reason}" for reason, names in by_reason.items())
