"""The headlines of a run, and which of them a fault has changed by more than run.json allows.

Headlines are the numbers that a reader takes away: the statistics and their counts, the maxima's
operations, the baselines and overheads, the curves of a sweep, the counts of operations and
interrupts, and what the firmware says of itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from base.metrology.quantiles import PERCENTILES, Summary
from base.run_folder.manifest import Curve, Manifest
from base.run_folder.quantities import QUANTITIES, Quantity

# What belongs to the operation of a maximum. Where several are as great, a fault within the budget
# may make another of them the first: so these are compared for the same operation only.
_OF_A_MAXIMUM = ("kind", "size", "label", "depth", "trial", "probes", "live", "bytes_in_use")
_OF_FIRMWARE = ("kernel", "heap_bytes", "core_hz", "flash_acr", "free_blocks_at_start")
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


def changes(before: Manifest, after: Manifest) -> tuple[Change, ...]:
    """The headlines of `after` that differ from those of `before` by more than the budget allows.

    The budget is what `after` states: what a reader of that run is told. Where it states none, that
    of `before` holds. What is counted has no budget.
    """
    told, found = dict(_headlines(before, before)), dict(_headlines(after, before))
    every = (
        Change(name, told[name][0], value, allowed)
        for name, (value, allowed) in found.items()
        if name in told
    )
    return tuple(change for change in every if _differ(change))


def _differ(change: Change) -> bool:
    before, after = change.before, change.after
    if isinstance(before, int | float) and isinstance(after, int | float):
        return bool(abs(after - before) > change.allowed * (1 + _ROUNDING) + _ROUNDING)
    return bool(before != after)


def _headlines(run: Manifest, healthy: Manifest) -> Iterator[tuple[str, tuple[Any, float]]]:
    """Each headline's name, its value, and how far it may be from the truth."""
    allowed = {quantity.key: _allowed(quantity, run, healthy) for quantity in QUANTITIES}
    for key, within in allowed.items():
        for name in Summary.model_fields:
            yield f"{key}.{name}", (getattr(run.statistics[key], name), _within(name, within, run, key))
        yield from _of_maximum(key, run, healthy)
        baseline = run.baselines[key]
        yield f"{key}.baseline", (baseline.value if baseline else None, within)
    for quantity in QUANTITIES:
        overhead = run.error_budget[quantity.key].overhead.of(quantity.unit)
        yield f"{quantity.key}.overhead", (overhead, allowed[quantity.key])
    curves = run.sweep.curves if run.sweep else []
    yield "sweep.labels", ([curve.label for curve in curves], 0.0)
    for curve in curves:
        yield from _of_curve(curve, allowed)
    for group, counts in (("counts", run.counts), ("interrupts", run.interrupts)):
        for name, value in counts.model_dump().items():
            yield f"{group}.{name}", (value, 0.0)
    for name, value in _facts(run).items():
        yield name, (value, 0.0)


def _allowed(quantity: Quantity, run: Manifest, healthy: Manifest) -> float:
    stated = run.error_budget[quantity.key].total.of(quantity.unit)
    known = healthy.error_budget[quantity.key].total.of(quantity.unit) if stated is None else stated
    return 0.0 if known is None else known


def _within(name: str, within: float, run: Manifest, key: str) -> float:
    """The error of statistic `name` if each of its samples may be off by `within`.

    A deviation is the length of a vector by the root of n - 1, so n errors may add to that. A
    percentile may be off by one rank as well.
    """
    n = run.statistics[key].n
    if name == "n":
        return 0.0
    if name in PERCENTILES:
        return within + (run.error_budget[key].rank.ns or 0.0)
    return within * math.sqrt(n / (n - 1)) if name == "stdev" and n > 1 else within


def _of_maximum(key: str, run: Manifest, healthy: Manifest) -> Iterator[tuple[str, tuple[Any, float]]]:
    maximum, truth = run.maxima[key], healthy.maxima[key]
    if maximum is None or truth is None or (maximum.seq, maximum.sample) != (truth.seq, truth.sample):
        return
    for name in _OF_A_MAXIMUM:
        yield f"{key}.max of {name}", (getattr(maximum, name), 0.0)


def _of_curve(curve: Curve, allowed: dict[str, float]) -> Iterator[tuple[str, tuple[Any, float]]]:
    latency, section = allowed["interrupt_latency_ns"], allowed["critical_ns"]
    name = f"sweep.{curve.label}"
    yield f"{name}.n", (curve.n, 0.0)
    yield f"{name}.latency_max_ns", (curve.latency_max_ns, latency)
    yield f"{name}.undisturbed_max_ns", (curve.undisturbed_max_ns, latency)
    yield f"{name}.entry_ns", (curve.entry_ns, latency + section)
    yield f"{name}.within_budget", (curve.within_budget, 0.0)


def _facts(run: Manifest) -> dict[str, Any]:
    facts: dict[str, Any] = {f"firmware.{name}": getattr(run.firmware, name) for name in _OF_FIRMWARE}
    facts |= {"locking": run.locking, "knobs": run.knobs, "probes_source": run.probes_source}
    for name in ("period_cycles", "handler_cycles"):
        facts[f"tick.{name}"] = getattr(run.tick, name) if run.tick else None
    return facts


def _plain(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else "none" if value is None else str(value)
