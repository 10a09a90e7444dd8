"""The figures of a run that are set beside those of other boards."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from base.metrology.slope import fit_slope
from base.run_folder.edges import NS_PER_S
from base.run_folder.manifest import Manifest
from base.run_folder.quantities import (
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    LATENCY,
    Quantity,
)

_LATENCY_BITS = 0xF
"""Wait states in FLASH_ACR, alike in all STM32 (RM0368 §3.8.1, RM0091 §3.5.1, RM0008 §3.3.3)."""
_LEAST_DEPTHS = 4


@dataclass(frozen=True)
class Worst:
    """The greatest of `n` samples: on the wire in ns, true to plus or minus `budget_ns`, and in
    cycles of the core.

    `counted` says that the core's counter told the cycles; else the wire did. `budget_ns` is None
    where nobody knows, `seq` where the sample fell outside all operations.
    """

    ns: float
    cycles: float
    counted: bool
    n: int
    budget_ns: float | None
    seq: int | None


@dataclass(frozen=True)
class Growth:
    """How much a critical section grows with each freed block: the slope of a line through `n`
    allocations, and the most by which their distances from it can have turned it.
    """

    cycles: float
    cycles_uncertainty: float
    ns: float
    ns_uncertainty: float
    n: int


@dataclass(frozen=True)
class Figures:
    """What a run says of its board. What it has nothing of is None.

    `answer` is the median wait of an interrupt that met nothing, in cycles by the wire.
    """

    core_hz: int
    wait_states: int | None
    samplerate_hz: int
    allocate: Worst | None
    free: Worst | None
    growth: Growth | None
    interrupt: Worst | None
    answer: Worst | None
    control: Worst | None

    @property
    def resolution_ns(self) -> float:
        """A sample of the wire."""
        return NS_PER_S / self.samplerate_hz


def figures(manifest: Manifest, operations: pl.DataFrame, core_hz: int) -> Figures:
    """The figures of a run whose core ran at `core_hz`. `operations` is its table."""
    acr = manifest.firmware.flash_acr or manifest.asked.flash_acr
    return Figures(
        core_hz=core_hz,
        wait_states=None if acr is None else int(acr, 16) & _LATENCY_BITS,
        samplerate_hz=manifest.samplerate_hz,
        allocate=_worst(manifest, CRITICAL, core_hz, DWT_CYCLES),
        free=_worst(manifest, FREE_CRITICAL, core_hz, FREE_DWT_CYCLES),
        growth=_growth(operations, core_hz),
        interrupt=_worst(manifest, LATENCY, core_hz),
        answer=_idle(manifest, core_hz),
        control=_worst(manifest, CONTROL, core_hz),
    )


def _worst(
    manifest: Manifest, on_wire: Quantity, core_hz: int, counted: Quantity | None = None
) -> Worst | None:
    summary, maximum = manifest.statistics.get(on_wire.key), manifest.maxima.get(on_wire.key)
    counter = manifest.statistics.get(counted.key) if counted else None
    seq = maximum.seq if maximum else None
    greatest = summary.max if summary else None
    return _extreme(manifest, on_wire, core_hz, greatest, seq, counter.max if counter else None)


def _idle(manifest: Manifest, core_hz: int) -> Worst | None:
    idle = manifest.baselines.get(LATENCY.key)
    if idle is None:
        return None
    worst = _extreme(manifest, LATENCY, core_hz, float(idle.value), None)
    return replace(worst, n=idle.n) if worst else None


def _extreme(
    manifest: Manifest,
    quantity: Quantity,
    core_hz: int,
    ns: float | None,
    seq: int | None,
    cycles: float | None = None,
) -> Worst | None:
    if ns is None:
        return None
    budget = manifest.error_budget.get(quantity.key)
    return Worst(
        ns=float(ns),
        cycles=ns * core_hz / NS_PER_S if cycles is None else float(cycles),
        counted=cycles is not None,
        n=manifest.statistics[quantity.key].n,
        budget_ns=None if budget is None or budget.total.ns is None else float(budget.total.ns),
        seq=seq,
    )


def _growth(operations: pl.DataFrame, core_hz: int) -> Growth | None:
    """Of allocations that no interrupt met; None without depths."""
    alone = (pl.col("control_hits").fill_null(0) == 0) & (pl.col("isr_hits").fill_null(0) == 0)
    table = operations.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"]) & alone)
    table = table.drop_nulls(["depth", "wire_critical_ns"])
    if table["depth"].n_unique() < _LEAST_DEPTHS:
        return None
    per_cycle_ns = NS_PER_S / core_hz
    on_wire = _slope(table["depth"], table["wire_critical_ns"], per_cycle_ns)
    counted = table.drop_nulls("dwt_cycles")
    if counted.height == table.height:
        cycles = _slope(table["depth"], table["dwt_cycles"], 0.5)
    else:
        cycles = on_wire[0] / per_cycle_ns, on_wire[1] / per_cycle_ns
    return Growth(*cycles, *on_wire, n=table.height)


def _slope(x: pl.Series, y: pl.Series, error: float) -> tuple[float, float]:
    across, up = (np.asarray(series, np.float64) - float(series.mean()) for series in (x, y))  # type: ignore[arg-type]
    slope = fit_slope(across, up, error)
    return slope.value, slope.uncertainty
