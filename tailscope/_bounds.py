"""`tailscope.bounds`: how long a program can hold interrupts off, run or not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import Any

from tailscope._bench import ask, options
from tailscope._errors import NotComplete
from tailscope._figures import NOTHING, Figure, Place

__tracebackhide__ = True  # pytest shows the line of the test


class Bounded(Figure):
    """The most that a section or a handler can take; `seen_cycles` is the longest of the run."""

    kind: str
    begin: Place | None = None
    seen_cycles: int | None = None

    @property
    def where(self) -> str:
        """The place where it begins."""
        return str(self.begin) if self.begin else NOTHING


class Bounds:
    """The bounds of a program. `document` is the JSON of `bounds` (the reference)."""

    def __init__(self, document: dict[str, Any], *, any_verdict: bool) -> None:
        self.document = document
        self.elf: str = document["elf"]
        self._rows = [*document["sections"], *document["handlers"]]
        unbounded = sum(row["bound_cycles"] is None for row in self._rows)
        counts = {
            "have no bound": unbounded,
            "took longer than their bound": document["violations"],
            "have only an estimate": document["estimates"],
        }
        self.reasons = tuple(
            f"{count:,} of {len(self._rows):,} {what}." for what, count in counts.items() if count
        )
        """Sentences on why the longest bound is not one of all that holds interrupts off."""
        if self.reasons and not any_verdict:
            raise NotComplete(self.elf, "truncated", self.reasons)

    @cached_property
    def worst(self) -> tuple[Bounded, ...]:
        """The sections and handlers that have a bound, the longest first."""
        rows = [row for row in self._rows if row["bound_cycles"] is not None]
        figures = [
            Bounded.model_validate(
                {**row, "name": row["kind"], "cycles": row["bound_cycles"], "ns": row["bound_ns"]}
            )
            for row in rows
        ]
        return tuple(sorted(figures, key=lambda figure: -figure.plain_cycles))

    @property
    def longest(self) -> Bounded:
        """The longest of them; of 0 cycles where nothing holds interrupts off."""
        return next(iter(self.worst), Bounded(name="any", ns=0.0, cycles=0, kind="any"))

    def __repr__(self) -> str:
        return f"<Bounds of {self.elf}, {len(self.worst)} of {len(self._rows)}>"


def bounds(
    elf: str | PathLike[str],
    *,
    until: str = "1s",
    loops: str | PathLike[str] | None = None,
    kernel: str | None = None,
    chip: str | None = None,
    hse: str | None = None,
    gaps: bool = False,
    any_core: bool = False,
    attach: Sequence[str] = (),
    any_verdict: bool = False,
) -> Bounds:
    """Bounds how long a program can hold interrupts off, from its machine code.

    The options are those of the command. Raises NotComplete if something has no bound, only an
    estimate, or took longer, and Error.
    """
    words = {name: value for name, value in locals().items() if name not in ("elf", "any_verdict")}
    return Bounds(ask("bounds", *options(**words), "--json", "--", fspath(elf)), any_verdict=any_verdict)
