"""The headlines of a run, and which of them a fault has changed by more than run.json allows.

Headlines are the numbers that a reader takes away: the statistics and their counts, the maxima's
operations, the baselines and overheads, the curves of a sweep, the counts of operations and
interrupts, and what the firmware says of itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from base.metrology.summaries import Ends, Summary
from base.run_folder.manifest import ANYWHERE, Counts, Interrupts, Manifest, Sweep, ends_of_statistic
from base.run_folder.quantities import QUANTITIES

# What belongs to the operation of a maximum. Where several are as great, a fault within the budget
# may make another of them the first: so these are compared for the same operation only.
_OF_A_MAXIMUM = ("kind", "size", "label", "depth", "trial", "probes", "live", "bytes_in_use")
_OF_THE_RUN = ("scenario", "parameters", "seed", "allocator", "locking", "knobs", "probes_source")
_OF_PARTS: dict[str, Iterable[str]] = {
    "counts": Counts.model_fields,
    "interrupts": Interrupts.model_fields,
    "firmware": ("kernel", "heap_bytes", "core_hz", "flash_acr", "free_blocks_at_start"),
    "tick": ("period_cycles", "handler_cycles"),
}
# Floats of one division are compared.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Change:
    """A headline that is `after` where it was `before`, with more than `allowed` between them."""

    headline: str
    before: Any
    after: Any
    allowed: float

    def __str__(self) -> str:
        return f"{self.headline}: {_plain(self.before)} → {_plain(self.after)} (±{self.allowed:g} allowed)"


def changes(before: Manifest, after: Manifest) -> list[Change]:
    """The headlines of `after` that differ from those of `before` by more than the budget allows.

    The budget is what `after` states: what a reader of that run is told. Where it states none, that
    of `before` holds. What is counted has no budget.
    """
    truth = dict(_headlines(before, before))
    every = (
        _change(name, truth[name][0], *headline)
        for name, headline in _headlines(after, before)
        if name in truth
    )
    return list(filter(None, every))


def _change(headline: str, before: Any, after: Any, ends: Ends | None) -> Change | None:
    """The change from `before` to `after`; None where `before` lies between the ends of `after`."""
    if not (isinstance(before, int | float) and isinstance(after, int | float)):
        open_ = ends == ANYWHERE and None in (before, after)
        return None if before == after or open_ else Change(headline, before, after, 0.0)
    low, high = ends or (after, after)
    allowed = after - low if before < after else high - after
    differ = abs(after - before) > allowed * (1 + _ROUNDING) + _ROUNDING
    return Change(headline, before, after, allowed) if differ else None


Headline = tuple[str, tuple[Any, Ends | None]]
"""A name, a value, and the ends of its budget; None of what is counted."""


def _headlines(run: Manifest, healthy: Manifest) -> Iterator[Headline]:
    """Each headline's name, its value, and how far it may be from the truth."""
    for quantity in QUANTITIES:
        key = quantity.key
        budgets = (manifest.error_budget[key].total.of(quantity.unit) for manifest in (run, healthy))
        within = next((budget for budget in budgets if budget is not None), 0.0)
        for name in Summary.model_fields:
            ends = ends_of_statistic(run, quantity, name, within)
            yield f"{key}.{name}", (getattr(run.statistics[key], name), ends)
        maximum, truth = run.maxima[key], healthy.maxima[key]
        if maximum and truth and (maximum.seq, maximum.sample) == (truth.seq, truth.sample):
            for name in _OF_A_MAXIMUM:
                yield f"{key}.max of {name}", (getattr(maximum, name), None)
        if baseline := run.baselines[key]:
            low, high = baseline.ends or (baseline.value, baseline.value)
            yield f"{key}.baseline", (baseline.value, (low - within, high + within))
        else:
            yield f"{key}.baseline", (None, None)
        overhead = run.error_budget[key].overhead.of(quantity.unit)
        yield f"{key}.overhead", (overhead, _around(overhead, within))
    yield from _of_sweep(run.sweep)
    for part, names in _OF_PARTS.items():
        whole = getattr(run, part)
        for name in names:
            yield f"{part}.{name}", (getattr(whole, name) if whole else None, None)
    for name in _OF_THE_RUN:
        yield name, (getattr(run, name), None)


def _around(value: float | None, within: float | None) -> Ends | None:
    return None if value is None or within is None else (value - within, value + within)


def _of_sweep(sweep: Sweep | None) -> Iterator[Headline]:
    curves = sweep.curves if sweep else []
    yield "sweep.labels", ([curve.label for curve in curves], None)
    if sweep:
        yield "sweep.lead_ns", (sweep.lead_ns, _around(sweep.lead_ns, sweep.lead_budget_ns))
    for curve in curves:
        name, budgets = f"sweep.{curve.label}", curve.budgets_ns
        for field in ("latency_max", "undisturbed_max", "critical", "entry"):
            value = getattr(curve, f"{field}_ns")
            yield f"{name}.{field}_ns", (value, _around(value, getattr(budgets, field, None)))
        for counted in ("n", "within_budget"):
            yield f"{name}.{counted}", (getattr(curve, counted), None)


def _plain(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else "none" if value is None else str(value)
