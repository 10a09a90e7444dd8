"""What a run under way has shown so far, in a line."""

from __future__ import annotations

from base.microseconds import microseconds
from base.run_folder.progress_file import Section, SoFar


def of(so_far: SoFar) -> str:
    """`1,659 of 2,304 operations, 8,566 a second; longest critical section so far 6.36 µs …`.

    Empty where nothing has come.
    """
    parts = [", ".join(_counts(so_far))]
    parts += [
        f"longest {what} so far {_section(section)}"
        for what, section in (("critical section", so_far.critical), ("free", so_far.free))
        if section
    ]
    return "; ".join(part for part in parts if part)


def _counts(so_far: SoFar) -> list[str]:
    words = []
    if so_far.operations:
        words.append(f"{so_far.operations:,} of {so_far.planned_operations:,} operations")
    if so_far.operations and so_far.operations_per_s:
        words.append(f"{so_far.operations_per_s:,.0f} a second")
    if so_far.samples and so_far.asked_samples:
        words.append(f"{so_far.samples / so_far.asked_samples:.0%} of the samples")
    return words


def _section(section: Section) -> str:
    return f"{microseconds(section.ns)} by DWT, operation {section.seq:,}"
