"""The comparison of a scenario's runs: under each quantity a row for each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.metrology.quantiles import PERCENTILES, samples_needed
from capture.run_folder.quantities import Quantity
from dashboards.formatting import MISSING, grouped, number
from dashboards.loaded.bounds import bound_of
from dashboards.loaded.certainty import confidence_words
from dashboards.loaded.quantities import REPORTED, shown
from dashboards.loaded.series import Series
from dashboards.waveforms.keys import fragment, worst_key

_HEADINGS = {"median": "median", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}
DEPENDENT = "†"
_DEPENDENCE = (
    "The samples are not independent in time (Ljung–Box test, p below 0.05), so the interval is too narrow."
)
_BUDGET_WORDS = (
    "± is the error budget of the value: bounds of resolution, clock and skew, added up. Overhead is the "
    "part of the value that is the bench's own. In brackets: the percentile's {confidence} bootstrap "
    "interval. sd: the standard deviation of the samples, with n − 1."
)
_TIMER_WORDS = (
    "By the timer: what the counter of the stimulus's timer told of the same answer, read right after its "
    "pin rose."
)
_BOUND_WORDS = (
    "Bound: the longest path through the section's machine code without interrupts, every instruction at "
    "its worst; and how many times the longest section seen that is."
)
_BOUNDED = {
    "critical_ns": "allocate",
    "dwt_cycles": "allocate",
    "served_critical_ns": "allocate",
    "served_dwt_cycles": "allocate",
    "refused_critical_ns": "allocate",
    "refused_dwt_cycles": "allocate",
    "free_critical_ns": "free",
    "free_dwt_cycles": "free",
}


@dataclass(frozen=True)
class Percentile:
    """`interval` is where a repetition would find it. `too_few` says why there is no value."""

    value: str
    interval: str = ""
    too_few: str = ""


@dataclass(frozen=True)
class Maximum:
    """`address` opens its waveform; empty where there is none. `notes` stand under the value.

    `share_percent`: the length of its bar, by the greatest maximum of all rows.
    """

    value: str
    address: str = ""
    notes: tuple[str, ...] = ()
    share_percent: float = 0.0


@dataclass(frozen=True)
class Row:
    """One run's statistics of one quantity. `deviation` is that of a sample."""

    name: str
    colour: str
    n: str
    minimum: str
    mean: str
    deviation: str
    percentiles: tuple[Percentile, ...]
    maximum: Maximum


@dataclass(frozen=True)
class Group:
    """One quantity; `words` name it with its unit."""

    words: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Verdict:
    """What stands before any number of a run."""

    name: str
    colour: str
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """`headings` are those of least, mean and percentiles; `legend` explains what is beside."""

    headings: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    groups: tuple[Group, ...]
    legend: str


def comparison(series: Sequence[Series]) -> Comparison:
    """The table of one scenario, all of it plain text."""
    quantities = shown(REPORTED, [one.run for one in series])
    return Comparison(
        headings=("min", "mean", *(_HEADINGS[name] for name in PERCENTILES)),
        verdicts=tuple(Verdict(one.name, one.style.colour, one.run.manifest.verdict) for one in series),
        groups=tuple(_group(quantity, series) for quantity in quantities),
        legend=" ".join(_legend(series)),
    )


def _legend(series: Sequence[Series]) -> list[str]:
    """What the signs beside the numbers mean, and why some are missing."""
    certainties = [one.run.certainty for one in series]
    dependent = any(certainty.dependent for certainty in certainties)
    bounded = any(bound_of(one.run, "allocate") for one in series)
    return [
        _BUDGET_WORDS.format(confidence=confidence_words(certainties)),
        *([f"{DEPENDENT} {_DEPENDENCE}"] if dependent else []),
        *dict.fromkeys(certainty.refused for certainty in certainties if certainty.refused),
        *([_TIMER_WORDS] if any(_timed(one) for one in series) else []),
        *([_BOUND_WORDS] if bounded else []),
        *dict.fromkeys(f"{one.name}: {words}" for one in series for words in one.run.adjustments),
    ]


def _timed(one: Series) -> bool:
    return any(maximum and maximum.timer_ns is not None for maximum in one.run.manifest.maxima.values())


def _group(quantity: Quantity, series: Sequence[Series]) -> Group:
    unit = f" ({quantity.unit})" if quantity.unit else ""
    largest = max((one.run.summary(quantity).max or 0 for one in series), default=0)
    return Group(quantity.words + unit, tuple(_row(quantity, one, largest) for one in series))


def _row(quantity: Quantity, one: Series, largest: float) -> Row:
    summary = one.run.summary(quantity)
    return Row(
        name=one.name,
        colour=one.style.colour,
        n=grouped(summary.n) if one.run.tells(quantity) else MISSING,
        minimum=number(summary.min, quantity.unit),
        mean=number(summary.mean, quantity.unit),
        deviation=number(summary.stdev, quantity.unit),
        percentiles=tuple(_percentile(quantity, one, name) for name in PERCENTILES),
        maximum=_maximum(quantity, one, largest),
    )


def _percentile(quantity: Quantity, one: Series, name: str) -> Percentile:
    summary = one.run.summary(quantity)
    value = getattr(summary, name)
    needed = samples_needed(PERCENTILES[name])
    if value is None and 0 < summary.n < needed:
        too_few = f"This percentile needs {grouped(needed)} samples; there are {grouped(summary.n)}."
        return Percentile(MISSING, too_few=too_few)
    certainty = one.run.certainty
    interval = certainty.intervals.get(quantity.key, {}).get(name)
    if interval is None:
        return Percentile(number(value, quantity.unit))
    low, high = (number(end, quantity.unit) for end in interval)
    mark = DEPENDENT if quantity.key in certainty.dependent else ""
    return Percentile(number(value, quantity.unit), f"[{low}, {high}]{mark}")


def _maximum(quantity: Quantity, one: Series, largest: float) -> Maximum:
    value = one.run.summary(quantity).max
    key = worst_key(one.run, quantity)
    if value is None or key is None:
        return Maximum(number(value, quantity.unit))
    return Maximum(
        value=number(value, quantity.unit),
        address=fragment(one.run.id, key),
        notes=tuple(
            note for note in (say(quantity, one) for say in (_budget, _timer, _bound, _refusal)) if note
        ),
        share_percent=100 * value / largest if largest else 0,
    )


def _timer(quantity: Quantity, one: Series) -> str:
    """`by the timer 9,797.6`: what the second witness told of this very answer."""
    maximum = one.run.manifest.maxima.get(quantity.key)
    told = maximum.timer_ns if maximum else None
    return "" if told is None else f"by the timer {number(told, quantity.unit)}"


def _refusal(quantity: Quantity, one: Series) -> str:
    """That the greatest of all requests is one that was refused."""
    return "of a refused request" if one.run.worst_was_refused(quantity) else ""


def _bound(quantity: Quantity, one: Series) -> str:
    """`bound 12,155, 2.3 ×`: the most that it can be, and its ratio to the longest seen."""
    bound = bound_of(one.run, _BOUNDED[quantity.key]) if quantity.key in _BOUNDED else None
    if bound is None:
        return ""
    value = bound.cycles if quantity.key.endswith("cycles") else bound.ns
    times = "" if bound.ratio is None else f", {bound.ratio:.1f} ×"
    return f"bound {number(value, quantity.unit)}{times}"


def _budget(quantity: Quantity, one: Series) -> str:
    """`±11.9, overhead 261.9`: how wrong it may be, and the part of it that is the bench's own."""
    certainty = one.run.certainty
    total, own = certainty.budgets.get(quantity.key), certainty.overheads.get(quantity.key)
    if total is None:
        return ""
    overhead = f", overhead {number(own, quantity.unit)}" if own else ""
    return f"±{number(total, quantity.unit)}{overhead}"
