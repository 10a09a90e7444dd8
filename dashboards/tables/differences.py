"""By how much the runs of a scenario differ, and how surely: a table under the comparison, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from analysis.metrology.comparison import Comparison, compare
from capture.run_folder.quantities import CRITICAL, LATENCY, Quantity
from dashboards.formatting import MISSING
from dashboards.formatting import quantity as number
from dashboards.quantities import samples
from dashboards.series import Series

_COMPARED = (CRITICAL, LATENCY)
_NO_INTERVAL = "A ramp's depths are chosen, not drawn: there is no sampling error."
_HEADINGS = ("allocator", "above, less below", "shift (ns)")


def differences_table(series: Sequence[Series]) -> str:
    """Each run against the one with the least worst critical section; empty where there is nothing to
    compare.
    """
    measured = [one for one in series if one.run.summary(CRITICAL).max is not None]
    if len(measured) < 2:
        return ""
    reference = min(measured, key=lambda one: one.run.summary(CRITICAL).max or 0)
    others = [one for one in measured if one is not reference]
    groups = "".join(_group(quantity, reference, others) for quantity in _COMPARED)
    headings = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
    name = escape(reference.name)
    return (
        f'<details class="differences"><summary>How far apart? Each against {name}</summary>'
        f'<div class="scroll"><table class="comparison"><thead><tr>{headings}</tr></thead>{groups}</table>'
        f'</div><p class="explanation">{_explanation(name)}</p></details>'
    )


def _explanation(name: str) -> str:
    return (
        "Above, less below: Cliff's delta, the share of all pairs of samples in which this allocator's is "
        f"the longer, less the share in which {name}'s is; 1 is always, 0 is neither. Shift: the "
        "Hodges–Lehmann estimate of the difference. In brackets 95 % intervals, which presume independent "
        "draws."
    )


def _group(quantity: Quantity, reference: Series, others: Sequence[Series]) -> str:
    rows = "".join(_row(quantity, one, reference) for one in others)
    span = f'colspan="{len(_HEADINGS)}" scope="rowgroup"'
    return f'<tbody><tr class="quantity"><th {span}>{escape(quantity.words)}</th></tr>{rows}</tbody>'


def _row(quantity: Quantity, one: Series, reference: Series) -> str:
    name = f'<th scope="row">{escape(one.name)}</th>'
    ours, theirs = (samples(run, quantity)[quantity.column].to_numpy() for run in (one.run, reference.run))
    if min(len(ours), len(theirs)) < 2:
        return f"<tr>{name}<td>{MISSING}</td><td>{MISSING}</td></tr>"
    drawn = not any(run.certainty.refused for run in (one.run, reference.run))
    delta, shift = _cells(compare(ours, theirs), drawn)
    return f"<tr>{name}<td>{delta}</td><td>{shift}</td></tr>"


def _cells(found: Comparison, drawn: bool) -> tuple[str, str]:
    if not drawn:
        none = f'<abbr title="{escape(_NO_INTERVAL)}">{MISSING}</abbr>'
        return f"{found.delta:+.3f} {none}", f"{number(found.shift, 'ns')} {none}"
    low, high = found.delta_interval
    least, most = (number(end, "ns") for end in found.shift_interval)
    delta = f"{found.delta:+.3f} <small>[{low:+.3f}, {high:+.3f}]</small>"
    return delta, f"{number(found.shift, 'ns')} <small>[{least}, {most}]</small>"
