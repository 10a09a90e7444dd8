"""How far the runs of a scenario lie apart, and how surely: the table under the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.metrology.comparison import compare
from analysis.metrology.intervals import CONFIDENCE
from capture.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.formatting import MISSING, number
from dashboards.loaded.quantities import samples
from dashboards.loaded.series import Series

_COMPARED = (CRITICAL, LATENCY)
_NO_INTERVAL = "A ramp's depths are chosen, not drawn: there is no sampling error."


@dataclass(frozen=True)
class Difference:
    """`interval` is of CONFIDENCE; `no_interval` says why there is none. A dash has neither."""

    value: str
    interval: str = ""
    no_interval: str = ""


@dataclass(frozen=True)
class Row:
    """One run less the reference: Cliff's delta, and the Hodges–Lehmann shift in ns."""

    name: str
    delta: Difference
    shift: Difference


@dataclass(frozen=True)
class Group:
    """One quantity, named by `words`."""

    words: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Differences:
    """Each run against the one named `reference`."""

    reference: str
    groups: tuple[Group, ...]
    explanation: str


def differences(series: Sequence[Series]) -> Differences | None:
    """Each run against the one whose worst critical section is shortest. None without two."""
    measured = [one for one in series if one.run.summary(CRITICAL).max is not None]
    if len(measured) < 2:
        return None
    reference = min(measured, key=lambda one: one.run.summary(CRITICAL).max or 0)
    others = [one for one in measured if one is not reference]
    groups = tuple(
        Group(quantity.words, tuple(_row(quantity, one, reference) for one in others))
        for quantity in _COMPARED
    )
    return Differences(reference.name, groups, _explanation(reference.name))


def _explanation(name: str) -> str:
    return (
        "Above, less below: Cliff's delta. It is the share of all pairs of samples in which this allocator's "
        f"is longer, less the share in which {name}'s is: 1 is always, 0 is equally often. Shift: the "
        f"Hodges–Lehmann estimate of the difference. In brackets: {100 * CONFIDENCE:g} % intervals, which "
        "presume independent draws."
    )


def _row(quantity: Quantity, one: Series, reference: Series) -> Row:
    ours, theirs = (samples(run, quantity)[quantity.column].to_numpy() for run in (one.run, reference.run))
    if min(len(ours), len(theirs)) < 2:
        return Row(one.name, Difference(MISSING), Difference(MISSING))
    found = compare(ours, theirs)
    delta, shift = f"{found.delta:+.3f}", number(found.shift, "ns")
    if any(run.certainty.refused for run in (one.run, reference.run)):
        return Row(
            one.name,
            Difference(delta, no_interval=_NO_INTERVAL),
            Difference(shift, no_interval=_NO_INTERVAL),
        )
    low, high = found.delta_interval
    least, most = (number(end, "ns") for end in found.shift_interval)
    return Row(
        one.name, Difference(delta, f"[{low:+.3f}, {high:+.3f}]"), Difference(shift, f"[{least}, {most}]")
    )
