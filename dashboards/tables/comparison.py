"""The comparison table of one scenario, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from analysis.metrology.quantiles import PERCENTILES, samples_needed
from analysis.metrology.quantiles import PERCENTILES as SHARES
from capture.run_folder.quantities import Quantity
from dashboards.formatting import MISSING, grouped
from dashboards.formatting import quantity as number
from dashboards.quantities import REPORTED, shown, worst_key
from dashboards.selection import fragment
from dashboards.series import Series
from dashboards.tables.bounds import ceiling

_HEADINGS = {"median": "median", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}
DEPENDENT = "†"
_DEPENDENCE = (
    "The samples are not independent in time (Ljung–Box test, p below 0.05), so the interval is too narrow."
)
# The allocator, n, the percentiles, the maximum.
COLUMNS = 3 + len(PERCENTILES)


def comparison_table(series: Sequence[Series]) -> str:
    """Rows of allocators under each quantity; every maximum links to its waveform."""
    quantities = shown(REPORTED, [one.run for one in series])
    groups = "".join(_group(quantity, series) for quantity in quantities)
    return (
        '<div class="scroll"><table class="comparison"><thead><tr><th scope="col">allocator</th>'
        f'<th scope="col">n</th>{"".join(f"<th scope=col>{_HEADINGS[name]}</th>" for name in PERCENTILES)}'
        f'<th scope="col">max</th></tr></thead>{_verdicts(series)}{groups}</table></div>{_legend(series)}'
    )


_BOUND_WORDS = (
    "Bound: the longest path through the machine code of the section without interrupts, every instruction "
    "at its worst, and how many times the longest section seen it is."
)


def _legend(series: Sequence[Series]) -> str:
    """What stands beside the numbers, and why it may not."""
    refused = dict.fromkeys(one.run.certainty.refused for one in series)
    sentences = [
        "± is the error budget of the value: resolution, clock and skew, as bounds, summed. Overhead is the "
        "share of it that is the bench's own. In brackets: bootstrap interval of the percentile, 95 %.",
        *([f"{DEPENDENT} {_DEPENDENCE}"] if any(one.run.certainty.dependent for one in series) else []),
        *(sentence for sentence in refused if sentence),
        *([_BOUND_WORDS] if any(ceiling(one.run, "allocate") for one in series) else []),
        *dict.fromkeys(f"{one.name}: {words}" for one in series for words in one.run.treatment),
    ]
    return f'<p class="explanation">{escape(" ".join(sentences))}</p>'


def _verdicts(series: Sequence[Series]) -> str:
    head = f'<tr class="quantity"><th colspan="{COLUMNS}" scope="rowgroup">verdict</th></tr>'
    return f"<tbody>{head}{''.join(map(_verdict, series))}</tbody>"


def _verdict(one: Series) -> str:
    verdict = one.run.manifest.verdict
    cell = f'<td colspan="{COLUMNS - 1}" class="verdict {verdict}">{verdict}</td>'
    return f'<tr><th scope="row">{_swatch(one)}</th>{cell}</tr>'


def _group(quantity: Quantity, series: Sequence[Series]) -> str:
    unit = f" ({quantity.unit})" if quantity.unit else ""
    largest = max((one.run.summary(quantity).max or 0 for one in series), default=0)
    rows = "".join(_row(quantity, one, largest) for one in series)
    words = escape(quantity.words + unit)
    head = f'<tr class="quantity"><th colspan="{COLUMNS}" scope="rowgroup">{words}</th></tr>'
    return f"<tbody>{head}{rows}</tbody>"


def _row(quantity: Quantity, one: Series, largest: float) -> str:
    summary = one.run.summary(quantity)
    return (
        f'<tr><th scope="row">{_swatch(one)}</th><td>{grouped(summary.n)}</td>'
        f"{''.join(_percentile(quantity, one, name) for name in PERCENTILES)}"
        f"{_maximum(quantity, one, summary.max, largest)}</tr>"
    )


def _swatch(one: Series) -> str:
    return f'<span class="swatch" style="background:{one.style.colour}"></span>{escape(one.name)}'


def _percentile(quantity: Quantity, one: Series, name: str) -> str:
    """The value, and under it the interval in which a repetition would have found it."""
    summary = one.run.summary(quantity)
    value = getattr(summary, name)
    needed = samples_needed(SHARES[name])
    if value is None and 0 < summary.n < needed:
        short = f"{grouped(summary.n)} samples, fewer than {grouped(needed)}"
        return f'<td><abbr title="This percentile of {short}, would say nothing.">{MISSING}</abbr></td>'
    certainty = one.run.certainty
    interval = certainty.intervals.get(quantity.key, {}).get(name)
    if interval is None:
        return f"<td>{number(value, quantity.unit)}</td>"
    low, high = (number(end, quantity.unit) for end in interval)
    mark = DEPENDENT if quantity.key in certainty.dependent else ""
    return f"<td>{number(value, quantity.unit)}<small>[{low}, {high}]{mark}</small></td>"


def _maximum(quantity: Quantity, one: Series, value: float | None, largest: float) -> str:
    """The value with a bar in the allocator's colour, so that the eye compares before the mind reads."""
    shown = number(value, quantity.unit)
    key = worst_key(one.run, quantity)
    if value is None or key is None:
        return f'<td class="max">{shown}</td>'
    share = 100 * value / largest if largest else 0
    bar = f'<span class="bar" style="width:{share:.1f}%;background:{one.style.colour}"></span>'
    address = escape(fragment(one.run.id, key))
    link = f'<a href="{address}" title="show its waveform">{shown}</a>'
    return f'<td class="max">{link}{_budget(quantity, one)}{_ceiling(quantity, one)}{bar}</td>'


_BOUNDED = {
    "critical_ns": "allocate",
    "dwt_cycles": "allocate",
    "free_critical_ns": "free",
    "free_dwt_cycles": "free",
}


def _ceiling(quantity: Quantity, one: Series) -> str:
    """`bound 12,155, 2.3 ×`: the most that it can be without interrupts, as multiple of what was."""
    bound = ceiling(one.run, _BOUNDED[quantity.key]) if quantity.key in _BOUNDED else None
    if bound is None:
        return ""
    value = bound.cycles if quantity.key.endswith("cycles") else bound.ns
    times = "" if bound.ratio is None else f", {bound.ratio:.1f} ×"
    return f"<small>bound {number(value, quantity.unit)}{times}</small>"


def _budget(quantity: Quantity, one: Series) -> str:
    """`±11.9, overhead 261.9`: how wrong the value may be, and how much of it is the bench's own."""
    certainty = one.run.certainty
    total, own = certainty.budgets.get(quantity.key), certainty.overheads.get(quantity.key)
    if total is None:
        return ""
    overhead = f", overhead {number(own, quantity.unit)}" if own else ""
    return f"<small>±{number(total, quantity.unit)}{overhead}</small>"
