"""Which allocator keeps a limit in a heap of a size: what is measured of each, in the order of
their merit (docs/how-to/choose.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from base.metrology.summaries import AT_LEAST
from base.microseconds import UNIT, digits, microseconds
from base.run_folder.manifest import Manifest
from base.text_table import TextTable, printed

Standing = Literal["fits", "not proven", "heap too small", "too long", "cannot say"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
"""The best first."""


@dataclass(frozen=True)
class Candidate:
    """An allocator over all its runs. What was not measured is None, and `missing` says why.

    `wait_ns` is the longest possible wait, in `scenario`, true to plus or minus `budget_ns`, which
    a report holds to its limit, too; a least one if it is `open`. `bound_ns` is the most that one
    section can make it, by its machine code: without interrupts in it, and with the entry.
    `refused` counts requests that the heap did not serve.
    """

    allocator: str
    locking: str | None = None
    operations: int = 0
    wait_ns: float | None = None
    budget_ns: float | None = None
    scenario: str | None = None
    open: bool = False
    bound_ns: float | None = None
    smallest_heap_bytes: int | None = None
    refused: int = 0
    flash_bytes: int | None = None
    static_ram_bytes: int | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, allocator: str, runs: Sequence[Manifest], smallest_heap: int | str | None = None
    ) -> Candidate:
        """The candidate of its runs, all on the same firmware; `smallest_heap` is in bytes, or the
        sentence why there is none.
        """
        heap_bytes = None if isinstance(smallest_heap, str) else smallest_heap
        missing = (f"Its smallest heap: {smallest_heap}",) if isinstance(smallest_heap, str) else ()
        waits, why_not = [], [] if runs else ["No run."]
        for run in runs:
            if not run.complete:
                why_not.append(f"{run.scenario} is {run.verdict}: {' '.join(run.reasons)}")
            elif not run.possible_wait:
                why_not.append(f"{run.scenario} has no answer of an interrupt, or no critical section.")
            else:
                waits.append((run.possible_wait, run))
        if why_not:
            return cls(allocator, smallest_heap_bytes=heap_bytes, missing=(why_not[0], *missing))
        wait, longest = max(waits, key=lambda pair: pair[0].ns)
        # Of the kinds of operations that the runs had, with the entry.
        bounds = [
            (bound, wait.entry_ns)
            for wait, run in waits
            for bound in run.bounds.values()
            if bound.observed_cycles is not None
        ]
        unbounded = [bound.why_not for bound, _ in bounds if bound.ns is None] if bounds else [None]
        footprint = longest.footprint
        return cls(
            allocator,
            longest.locking,
            sum(run.section_ns.n for run in runs),
            float(wait.ns),
            None if wait.budget_ns is None else float(wait.budget_ns),
            longest.scenario,
            any(wait.open for wait, _ in waits),
            None if unbounded else max(float((bound.ns or 0) + entry_ns) for bound, entry_ns in bounds),
            heap_bytes,
            refused=sum(run.counts.out_of_memory for run in runs),
            flash_bytes=footprint.flash_bytes if footprint else None,
            static_ram_bytes=footprint.static_ram_bytes if footprint else None,
            missing=(*(f"Its bound: {why or 'not computed.'}" for why in unbounded[:1]), *missing),
        )

    def standing(self, limit_ns: float, heap_bytes: int) -> Standing:
        """How it stands to the limit, and to a heap of so many bytes."""
        budget_ns = self.budget_ns or 0.0
        if self.wait_ns is None:
            return "cannot say"
        if self.wait_ns - budget_ns > limit_ns:
            return "too long"
        if self.refused or (self.smallest_heap_bytes or 0) > heap_bytes:
            return "heap too small"
        proven = self.bound_ns is not None and max(self.bound_ns, self.wait_ns + budget_ns) <= limit_ns
        return "fits" if proven and not self.open else "not proven"

    @property
    def ram_bytes(self) -> float:
        """What it takes of RAM: its smallest heap and its static RAM; infinite where unknown."""
        parts = (self.smallest_heap_bytes, self.static_ram_bytes)
        return math.inf if None in parts else sum(part or 0 for part in parts)


@dataclass(frozen=True)
class Choice:
    """The question, and who is asked. `notes` say what is not of one candidate alone."""

    board: str
    heap_bytes: int
    limit_ns: float
    among: Sequence[Candidate]
    notes: Sequence[str] = ()

    @cached_property
    def candidates(self) -> list[Candidate]:
        """From the best to the worst: those that fit by what they take of RAM, the others by their
        longest possible wait.
        """

        def merit(candidate: Candidate) -> tuple[float, ...]:
            standing = self.standing(candidate)
            times = [math.inf if ns is None else ns for ns in (candidate.wait_ns, candidate.bound_ns)]
            ram = (candidate.ram_bytes,) if standing == "fits" else ()
            return STANDINGS.index(standing), *ram, *times

        return sorted(self.among, key=merit)

    def standing(self, candidate: Candidate) -> Standing:
        """How the candidate stands to the question."""
        return candidate.standing(self.limit_ns, self.heap_bytes)

    @property
    def chosen(self) -> Candidate | None:
        """The one to take; None if none is shown to fit."""
        first = next(iter(self.candidates), None)
        return first if first and self.standing(first) == "fits" else None

    @property
    def exit_status(self) -> int:
        """0 if one fits, 1 if none does, 2 if that cannot be said."""
        if self.chosen:
            return 0
        return 2 if {"not proven", "cannot say"} & set(map(self.standing, self.candidates)) else 1

    @property
    def sentence(self) -> str:
        """Which one, and why; or the nearest, and why none."""
        best, limit = self.candidates[0], microseconds(self.limit_ns)
        standing, least = self.standing(best), AT_LEAST if best.open else ""
        if standing == "cannot say":
            return f"Nobody can say which allocator stays within {limit}: none has a complete run."
        bound = "it has no bound" if best.bound_ns is None else f"its bound is {microseconds(best.bound_ns)}"
        seen = (
            f"of {best.operations:,} sections the longest makes a wait of {least}"
            f"{microseconds(best.wait_ns or 0)} possible, in {best.scenario}, and {bound}"
        )
        if standing == "fits":
            fit = sum(self.standing(other) == "fits" for other in self.candidates)
            return f"{best.allocator} stays within {limit}: {seen}. It is the first by RAM of {fit} that fit."
        if standing == "heap too small":
            seen += f"; it refused {best.refused:,} requests, and its smallest heap is in the table"
        why = {"not proven": "None is proven to stay", "too long": "None stays"}.get(standing, "None fits")
        return f"{why} within {limit}. Nearest is {best.allocator}: {seen}."

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return {
            "board": self.board,
            "heap_bytes": self.heap_bytes,
            "limit_ns": self.limit_ns,
            "choice": self.chosen.allocator if self.chosen else None,
            "sentence": self.sentence,
            "candidates": [
                {**asdict(candidate), "standing": self.standing(candidate)} for candidate in self.candidates
            ],
            "notes": self.notes,
        }


_WIDTH_COLUMNS = 100
_COLUMNS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "wait_ns": (f"wait {UNIT}", digits),
    "bound_ns": (f"bound {UNIT}", digits),
    "smallest_heap_bytes": ("smallest heap", "{:,}".format),
    "static_ram_bytes": ("static RAM", "{:,}".format),
    "flash_bytes": ("flash", "{:,}".format),
}
"""Of a candidate's figure the heading, and how it is written."""


def as_text(choice: Choice) -> str:
    """The sentence, the table, what its columns are of, and what was not measured."""
    headings = ("allocator", "standing", *(heading for heading, _ in _COLUMNS.values()), "lock")
    lines, missing = [], dict[str, list[str]]()
    for row in choice.candidates:
        figures = ((getattr(row, name), form) for name, (_, form) in _COLUMNS.items())
        cells = ("-" if value is None else form(value) for value, form in figures)
        lines.append((row.allocator, choice.standing(row), *cells, row.locking or "-"))
        for reason in row.missing:
            missing.setdefault(reason, []).append(row.allocator)
    table = TextTable("", headings, lines, range(2, len(headings) - 1))
    budget_ns = max((row.budget_ns or 0 for row in choice.candidates), default=0)
    meaning = (
        f"limit {microseconds(choice.limit_ns)}, heap {choice.heap_bytes:,} bytes, {choice.board}. wait: "
        f"the longest possible, ±{microseconds(budget_ns)}: the longest section seen, with what interrupted "
        "it, and the entry; or a longer wait that was seen. With the scheduler's lock tasks wait, and "
        "interrupts do not. bound: the most by the machine code, without interrupts within, and the entry. "
        "smallest heap: serves all these requests. Sizes in bytes."
    )
    reasons = (f"Not measured of {', '.join(names)}. {reason}" for reason, names in missing.items())
    return printed([choice.sentence, table, "", meaning, *choice.notes, *reasons], _WIDTH_COLUMNS)
