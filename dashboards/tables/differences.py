"""How far the runs of a scenario lie apart, and how surely: the table under the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from base.metrology.comparison import LEAST_SAMPLES, compare
from base.metrology.summaries import CONFIDENCE
from base.run_folder.quantities import CRITICAL, LATENCY, SECTION, Quantity
from dashboards.blocks import Cell, Column, Grid, Group, Line
from dashboards.caveats import NO_INTERVAL
from dashboards.formatting import MISSING, short, whole
from dashboards.loaded.quantities import samples
from dashboards.loaded.series import Series
from dashboards.tables.comparison import line_of

_COMPARED = (CRITICAL, LATENCY)
_COLUMNS = (Column("delta", "share longer"), Column("shift_ns", "shift (µs)"))


def differences(series: Sequence[Series]) -> Grid | None:
    """Each run against the one of its board whose worst critical section is shortest. None where no
    board has two.
    """
    measured = [member for member in series if member.run.summary(SECTION).max is not None]
    by_board: dict[str, list[Series]] = {}
    for one in measured:
        by_board.setdefault(one.run.manifest.board_folder, []).append(one)
    several = [ones for ones in by_board.values() if len(ones) > 1]
    if not several:
        return None
    references = [min(ones, key=lambda series: series.run.summary(SECTION).max or 0) for ones in several]
    groups = tuple(
        Group(quantity.words, tuple(_lines(quantity, several, references))) for quantity in _COMPARED
    )
    name = " or ".join(series.name for series in references)
    title = f"How far apart? Each against {name}{' of its board' if len(references) > 1 else ''}"
    return Grid("differences", title, _COLUMNS, groups, legend=_explanation(name), pinned=0, folded=True)


def _lines(
    quantity: Quantity, several: Sequence[Sequence[Series]], references: Sequence[Series]
) -> Iterator[Line]:
    for ones, reference in zip(several, references, strict=True):
        theirs = _values(quantity, reference)
        yield from (
            _line(series, _values(quantity, series), reference, theirs)
            for series in ones
            if series is not reference
        )


def _values(quantity: Quantity, series: Series) -> npt.NDArray[np.float64]:
    return samples(series.run, quantity)[quantity.column].to_numpy()


def _explanation(name: str) -> str:
    return (
        "Share longer: Cliff's delta. Of all pairs of samples it is the share in which this allocator's is "
        f"longer, minus the share in which {name}'s is: 1 is always, 0 is equally often. Shift: the "
        f"Hodges–Lehmann estimate of the difference. In brackets: {100 * CONFIDENCE:g} % intervals, which "
        "presume independent draws."
    )


def _line(
    series: Series, ours: npt.NDArray[np.float64], reference: Series, theirs: npt.NDArray[np.float64]
) -> Line:
    if min(len(ours), len(theirs)) < LEAST_SAMPLES:
        return line_of(series, (Cell(MISSING), Cell(MISSING)))
    comparison = compare(ours, theirs)
    delta, shift = f"{comparison.delta:+.3f}", short(comparison.shift, "ns")
    if any(run.certainty.refused for run in (series.run, reference.run)):
        cells = Cell(delta, comparison.delta, why=NO_INTERVAL), Cell(shift, comparison.shift, why=NO_INTERVAL)
        return line_of(series, cells)
    low, high = comparison.delta_interval
    least, most = (short(end, "ns") for end in comparison.shift_interval)
    return line_of(
        series,
        (
            Cell(delta, comparison.delta, (f"[{low:+.3f}, {high:+.3f}]",)),
            Cell(shift, comparison.shift, (f"[{least}, {most}]",), whole=whole(comparison.shift, "ns")),
        ),
    )
