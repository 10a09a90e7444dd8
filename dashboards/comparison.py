"""The comparison table of one scenario, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dashboards.formatting import MISSING, grouped
from dashboards.formatting import quantity as number
from dashboards.manifest import Summary
from dashboards.quantities import REPORTED, Quantity, shown, worst_key
from dashboards.selection import fragment
from dashboards.series import Series


def comparison_table(series: Sequence[Series]) -> str:
    """Rows of allocators under each quantity; every maximum links to its waveform."""
    quantities = shown(REPORTED, [one.run for one in series])
    groups = "".join(_group(quantity, series) for quantity in quantities)
    return (
        '<div class="scroll"><table class="comparison"><thead><tr><th scope="col">allocator</th>'
        '<th scope="col">n</th><th scope="col">median</th><th scope="col">p99</th><th scope="col">max</th>'
        f"</tr></thead>{_verdicts(series)}{groups}</table></div>"
    )


def _verdicts(series: Sequence[Series]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_swatch(one)}</th><td colspan="4" class="verdict {one.run.manifest.verdict}">'
        f"{one.run.manifest.verdict}</td></tr>"
        for one in series
    )
    return f'<tbody><tr class="quantity"><th colspan="5" scope="rowgroup">verdict</th></tr>{rows}</tbody>'


def _group(quantity: Quantity, series: Sequence[Series]) -> str:
    unit = f" ({quantity.unit})" if quantity.unit else ""
    largest = max((quantity.summary(one.run).max or 0 for one in series), default=0)
    rows = "".join(_row(quantity, one, largest) for one in series)
    head = f'<tr class="quantity"><th colspan="5" scope="rowgroup">{escape(quantity.words + unit)}</th></tr>'
    return f"<tbody>{head}{rows}</tbody>"


def _row(quantity: Quantity, one: Series, largest: float) -> str:
    summary = quantity.summary(one.run)
    return (
        f'<tr><th scope="row">{_swatch(one)}</th><td>{grouped(summary.n)}</td>'
        f"<td>{number(summary.median, quantity.unit)}</td><td>{_p99(summary, quantity.unit)}</td>"
        f"{_maximum(quantity, one, summary.max, largest)}</tr>"
    )


def _swatch(one: Series) -> str:
    return f'<span class="swatch" style="background:{one.style.colour}"></span>{escape(one.name)}'


def _p99(summary: Summary, unit: str) -> str:
    if summary.p99 is None and 0 < summary.n < 100:
        why = f"A 99th percentile of {summary.n} samples, fewer than 100, would say nothing."
        return f'<abbr title="{why}">{MISSING}</abbr>'
    return number(summary.p99, unit)


def _maximum(quantity: Quantity, one: Series, value: float | None, largest: float) -> str:
    """The value with a bar in the allocator's colour, so that the eye compares before the mind reads."""
    shown = number(value, quantity.unit)
    key = worst_key(one.run, quantity)
    if value is None or key is None:
        return f'<td class="max">{shown}</td>'
    share = 100 * value / largest if largest else 0
    bar = f'<span class="bar" style="width:{share:.1f}%;background:{one.style.colour}"></span>'
    address = escape(fragment(one.run.id, key))
    return f'<td class="max"><a href="{address}" title="show its waveform">{shown}</a>{bar}</td>'
