"""Mutants that survive because they change nothing that anyone can see:
the list, with the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from base.files.documents import Table, read_toml
from quality.mutants.drawing import Mutant
from quality.mutants.trial import MutantError

LIST = Path(__file__).with_suffix(".toml")


class Entry(Table):
    """One mutant, by its file and its line before and
    after; `why` nothing can tell it from the code.
    """

    file: str
    before: str
    after: str
    why: str


class Document(Table):
    """The list."""

    mutant: list[Entry]


def read(path: Path = LIST) -> tuple[Entry, ...]:
    """The list at `path`. Raises MutantError where it cannot be read."""
    return tuple(read_toml(path, Document, MutantError).mutant)


def reason(mutant: Mutant, entries: Sequence[Entry]) -> str | None:
    """Why the mutant is harmless; None where nobody said so."""
    for entry in entries:
        if (entry.file, entry.before, entry.after) == (mutant.file, mutant.before, mutant.after):
            return entry.why
    return None
