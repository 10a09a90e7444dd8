"""The statistics of each quantity in both runs, and how far apart the samples lie."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.compare.run import Run
from analysis.compare.worst import allowed
from base.metrology.comparison import LEAST_SAMPLES, Comparison, compare
from base.metrology.quantiles import Summary
from base.run_folder.quantities import QUANTITIES, Quantity


@dataclass(frozen=True)
class Distribution:
    """`effect` has B less A: Cliff's delta and the Hodges-Lehmann shift. It is None where the runs
    are exact, so that nothing is to be estimated, and where one has fewer than two samples.
    `no_interval` says why its intervals mean nothing; empty where they do.
    """

    quantity: Quantity
    a: Summary
    b: Summary
    effect: Comparison | None
    no_interval: str
    budget: float | None

    @property
    def beyond(self) -> bool:
        """True if the samples lie further apart than the error budgets allow."""
        if self.effect is None or self.budget is None:
            return False
        if self.no_interval:
            return abs(self.effect.shift) > self.budget
        low, high = self.effect.shift_interval
        return low > self.budget or high < -self.budget


def distributions(a: Run, b: Run, exact: bool) -> tuple[Distribution, ...]:
    """Each quantity that both runs have samples of."""
    return tuple(
        _distribution(a, b, quantity, exact)
        for quantity in QUANTITIES
        if len(a.samples(quantity)) and len(b.samples(quantity))
    )


def _distribution(a: Run, b: Run, quantity: Quantity, exact: bool) -> Distribution:
    ours, theirs = (run.samples(quantity)[quantity.column].to_numpy() for run in (a, b))
    estimated = not exact and min(len(ours), len(theirs)) >= LEAST_SAMPLES
    refused = next((one for run in (a, b) if (one := run.manifest.intervals.refused)), "")
    return Distribution(
        quantity=quantity,
        a=a.summary(quantity),
        b=b.summary(quantity),
        effect=compare(theirs, ours) if estimated else None,
        no_interval=refused if estimated else "",
        budget=0.0 if exact else allowed(a, b, quantity),
    )
