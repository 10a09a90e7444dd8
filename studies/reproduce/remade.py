"""The figures made here for a table, by variant, part, row and column."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low
from typing import TypeAlias, TypeVar


@dataclass(frozen=True)
class MadeFigure:
    """A figure that was made here, in the unit of its column.

    `value` is one that occurred, or a mean; of several seeds or placements the median that
    occurred, between `least` and `most`. `n` samples stand behind it, each of them told to within
    `resolution`. Cycles are of as many `placements` of the code; 0: it does not matter where the
    code lies.
    """

    value: float
    n: int
    resolution: float
    least: float | None = None
    most: float | None = None
    samples: tuple[float, ...] = ()
    """Of each seed, in their order."""
    placements: int = 0

    @property
    def constant(self) -> bool:
        """True if every seed, or placement, gave it."""
        return self.least is not None and self.least == self.most


Key = TypeVar("Key", bound=Hashable)

Place: TypeAlias = tuple[str, str, str]
"""Part, row and column. The row is the publication's word, or an allocator here that it lacks."""

Figures: TypeAlias = Mapping[Place, MadeFigure]


@dataclass(frozen=True)
class Remade:
    """A table made again. `variants` are the ways in which it was, such as a whole call and its
    critical section; the first is what compares best. `made_from` says what was run: scenario,
    seeds, board. `notes` are sentences on what came out. `judged` are the variants that a
    conclusion must agree in, for the publication does not say which it is; none: the first.
    `witnesses` are figures, by name, that show the cause of what came out.
    """

    variants: Mapping[str, Figures]
    made_from: str
    notes: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    witnesses: Mapping[str, MadeFigure] = field(default_factory=dict)


def over_seeds(values: Iterable[float | None], resolution: float) -> MadeFigure | None:
    """The median that occurred, and the range. None where a seed lacks the figure."""
    samples = list(values)
    given = [value for value in samples if value is not None]
    if not given or len(given) < len(samples):
        return None
    return MadeFigure(median_low(given), len(given), resolution, min(given), max(given), tuple(given))


def over_placements(figures: Sequence[MadeFigure]) -> MadeFigure:
    """A figure of cycles at each placement: the median that occurred, and the range of several."""
    first, *others = figures
    if not others:
        return replace(first, placements=1)
    values = [figure.value for figure in figures]
    return replace(
        first, value=median_low(values), least=min(values), most=max(values), placements=len(values)
    )


def present(figures: Mapping[Key, MadeFigure | None]) -> dict[Key, MadeFigure]:
    """The figures that are not None."""
    return {key: figure for key, figure in figures.items() if figure is not None}
