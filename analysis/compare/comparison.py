"""Two sides beside each other, each a run or a folder of runs (docs/reference/compare.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from analysis.compare.compared import Compared, Status
from analysis.compare.compared import compare as compare_pair
from analysis.compare.found import SideRuns, find
from analysis.compare.pairing import Pairing, pair
from base.files.errors import TailscopeError


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out. `unreadable` are sentences on runs that should have been compared."""

    a: SideRuns
    b: SideRuns
    pairing: Pairing
    compared: tuple[Compared, ...]
    unreadable: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences on runs that are no matter here."""
        return tuple(dict.fromkeys((*self.a.left_out, *self.b.left_out)))

    @property
    def status(self) -> Status:
        """The worst of all pairs. A run that could not be read leaves nothing equal."""
        found = {one.status for one in self.compared}
        if "worse" in found:
            return "worse"
        if "cannot say" in found or self.unreadable or not found:
            return "cannot say"
        return "not worse" if "not worse" in found else "equal"


def compare(a: Path, b: Path, tell: Callable[[str], None] = lambda _: None) -> Comparison:
    """Compares the runs of two folders.

    `tell` hears what is going on. Raises TailscopeError where a side holds no run. A run that
    cannot be read in a folder of runs raises nothing: `unreadable` tells of it.
    """
    ours, theirs = find(a), find(b)
    pairing = pair(ours, theirs)
    compared: list[Compared] = []
    unreadable = [*ours.broken, *theirs.broken]
    for number, one in enumerate(pairing.pairs, 1):
        tell(f"{number} of {len(pairing.pairs)}: {one.b.manifest.scenario}, {one.b.manifest.configuration}")
        try:
            compared.append(compare_pair(one))
        except TailscopeError as error:
            if one.by == "given":
                raise
            unreadable.append(str(error))
    return Comparison(ours, theirs, pairing, tuple(compared), tuple(dict.fromkeys(unreadable)))
