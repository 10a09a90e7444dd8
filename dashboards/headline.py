"""The sentences at the top of a report, computed from the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from base.run_folder.quantities import CONTROL, CRITICAL, LATENCY, TASK, Quantity
from dashboards.formatting import microseconds
from dashboards.loaded.quantities import call_name
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, caveats, spares_control, spares_interrupts
from dashboards.waveforms import worst_key

MOST_NAMED = 4
"""Of more allocators than this a sentence gives the extremes; the table has them all."""


def headline(scenario: str, series: Sequence[Series]) -> tuple[str, ...]:
    """What the scenario showed, in three lines at most: sections, interrupts, what to know."""
    spared = [one for one in series if spares_control(one)]
    lines = (
        (
            _worst(scenario, series, CRITICAL, "the longest critical section of an allocation was"),
            _growth(series),
        ),
        (
            _worst("", series, LATENCY, "an interrupt waited at most"),
            _cause(series),
            _worst("", _only_tasks_wait(series), TASK, "the task that an interrupt wakes waited at most"),
        ),
        (
            _worst(
                "", spared, CONTROL, "the control interrupt, which no critical section masks, waited at most"
            ),
            caveats(series),
        ),
    )
    spoken = tuple(" ".join(sentence for sentence in line if sentence) for line in lines)
    return tuple(line for line in spoken if line) or (f"In {scenario} nothing was measured.",)


def _cause(series: Sequence[Series]) -> str:
    """Words on what the interrupt with the longest wait had met."""
    waited = [one for one in series if one.run.summary(LATENCY).max is not None]
    if not waited:
        return ""
    longest = max(waited, key=lambda one: one.run.summary(LATENCY).max or 0)
    key = worst_key(longest.run, LATENCY)
    if key is None or key.startswith("@"):
        return ""
    return f"The longest wait met {_operation(met)}." if (met := _met(longest.run, int(key))) else ""


def _met(run: LoadedRun, seq: int) -> dict[str, Any] | None:
    """The operation that the longest wait met, as run.json tells it; else as the table does."""
    maximum = run.manifest.maxima.get(LATENCY.key)
    if maximum is not None and maximum.seq == seq and maximum.size is not None:
        return maximum.model_dump()
    rows = run.operations.filter(pl.col("seq") == seq).to_dicts()
    return rows[0] if rows else None


def _operation(row: dict[str, Any]) -> str:
    """`heap_stats, a call of the kernel`, or `an allocation of 120 bytes at depth 256`."""
    if row["kind"] == "K":
        return f"{row['label'] or call_name(row['size'])}, a call of the kernel"
    what = {"A": "an allocation", "O": "a refused allocation"}.get(row["kind"], "a free")
    depth = "" if row["depth"] is None else f" at depth {row['depth']:,}"
    return f"{what} of {row['size']:,} bytes{depth}"


def _only_tasks_wait(series: Sequence[Series]) -> Sequence[Series]:
    """All of `series` if a lock among them holds off tasks only: then task latencies compare."""
    return series if any(spares_interrupts(one) for one in series) else ()


def _worst(scenario: str, series: Sequence[Series], quantity: Quantity, words: str) -> str:
    """`In mem_frag … was 41.46 µs with seglist and 5.36 µs with tlsf, a factor of 7.7.`"""
    worst = [(one, value) for one in series if (value := one.run.summary(quantity).max) is not None]
    if not worst:
        return ""
    worst.sort(key=lambda pair: -pair[1])
    opening = f"In {scenario} {words}" if scenario else words[0].upper() + words[1:]
    findings = _with(
        [(_true_to(quantity, one, value) + _refusal(quantity, one), one.name) for one, value in worst]
    )
    listed = _listed(findings)
    if len(findings) > 1 and len(worst) > MOST_NAMED:
        listed = f"{findings[0]}; of {len(worst)} allocators the least was {findings[-1]}"
    return f"{opening} {listed}{_ratio([value for _, value in worst])}."


def _true_to(quantity: Quantity, one: Series, value_ns: float) -> str:
    """`41.46 ± 0.02 µs`. The error budget is a bound, so it is rounded up; a run may lack it."""
    budget_ns = one.run.certainty.budgets.get(quantity.key)
    if budget_ns is None:
        return microseconds(value_ns)
    # Spaces that do not break: the value stays beside its budget.
    return f"{value_ns / 1000:,.2f}\u00a0±\u00a0{math.ceil(budget_ns / 10) / 100:.2f}\u00a0µs"


def _refusal(quantity: Quantity, one: Series) -> str:
    return " (a refused request)" if one.run.worst_was_refused(quantity) else ""


def _growth(series: Sequence[Series]) -> str:
    """How the worst critical section changed from a ramp's first quarter to its last."""
    grown = [(one, *ends) for one in series if (ends := worst_at_both_ends(one.run))]
    if not grown:
        return ""
    change = _change if len(grown) <= MOST_NAMED else _rough_change
    listed = _listed(_with([(change(one, first, last), one.name) for one, first, last in grown]))
    return f"From the shallowest to the deepest quarter of the ramp it {listed}."


def worst_at_both_ends(run: LoadedRun) -> tuple[float, float] | None:
    """The worst critical section of the first and of the last quarter of depths, in ns on the wire.

    None without at least four depths.
    """
    table = run.measured_allocations.drop_nulls(["depth", "wire_critical_ns"])
    if table["depth"].n_unique() < 4:
        return None
    least, most = int(table["depth"].min()), int(table["depth"].max())  # type: ignore[arg-type]
    quarter = (most - least) / 4
    first = table.filter(pl.col("depth") <= least + quarter)["wire_critical_ns"].max()
    last = table.filter(pl.col("depth") >= most - quarter)["wire_critical_ns"].max()
    return float(first), float(last)  # type: ignore[arg-type]


def _change(one: Series, first_ns: float, last_ns: float) -> str:
    """Each width is known to one sample, so two ends that differ by two samples may be equal."""
    if abs(last_ns - first_ns) <= 2 * one.run.manifest.resolution_ns:
        return f"stayed at {microseconds(last_ns)}"
    verb = "grew" if last_ns > first_ns else "fell"
    return f"{verb} from {microseconds(first_ns)} to {microseconds(last_ns)}"


def _rough_change(_one: Series, first_ns: float, last_ns: float) -> str:
    return "grew by half or more" if last_ns >= 1.5 * first_ns else "did not"


def _ratio(values: Sequence[float]) -> str:
    """The factor between the extremes, in words. Empty below 1.5, or if the least is zero."""
    if len(values) < 2 or values[-1] <= 0 or values[0] / values[-1] < 1.5:
        return ""
    return f", a factor of {values[0] / values[-1]:.1f}"


def _with(findings: Sequence[tuple[str, str]]) -> list[str]:
    """`<finding> with <names>`; runs with the same finding share one entry."""
    names: dict[str, list[str]] = {}
    for finding, name in findings:
        names.setdefault(finding, []).append(name)
    return [f"{finding} with {_listed(same)}" for finding, same in names.items()]


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
