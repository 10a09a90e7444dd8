"""Residuals in figures, a row for each quantity and kind of operation; and one sentence on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.twin import hypotheses
from analysis.twin.hypotheses import CLOCK, FLASH, PLACEMENT, Hypothesis, Trials, clock_words
from analysis.twin.residuals import CYCLES, QUANTITIES, Pair, Quantity, beyond
from base.metrology.quantiles import summarise
from base.metrology.summaries import Summary
from base.run_folder.edges import NS_PER_S

MOST_WORST = 10


@dataclass(frozen=True)
class Units:
    """Turns cycles of the core into time and into samples of the board's wire."""

    core_hz: int
    samplerate_hz: int

    def ns(self, cycles: float) -> float:
        return cycles * NS_PER_S / self.core_hz

    def samples(self, cycles: float) -> float:
        return cycles * self.samplerate_hz / self.core_hz


@dataclass(frozen=True)
class Row:
    """The residuals of a quantity for one kind of operation, None for all, in cycles.

    `beyond` counts those that are beyond their budgets, of which the largest is `budget_cycles`.
    `worst` are the greatest by size: number of the operation (None outside of all) and residual.
    """

    quantity: Quantity
    kind: str | None
    cycles: Summary
    beyond: int
    budget_cycles: float
    worst: tuple[tuple[int | None, float], ...]

    @property
    def share_beyond(self) -> float:
        return self.beyond / self.cycles.n

    def as_json(self, units: Units) -> dict[str, Any]:
        """The document that docs/reference/twin.md describes."""
        cycles = {name: getattr(self.cycles, name) for name in ("min", "median", "mean", "p99", "max")}
        return {
            "quantity": self.quantity.key,
            "kind": self.kind,
            "n": self.cycles.n,
            "cycles": cycles,
            "ns": {name: None if value is None else units.ns(value) for name, value in cycles.items()},
            "budget_cycles": self.budget_cycles,
            "budget_ns": units.ns(self.budget_cycles),
            "beyond": self.beyond,
            "share_beyond": self.share_beyond,
            "worst": [
                {
                    "seq": seq,
                    "cycles": cycles,
                    "ns": units.ns(cycles),
                    "samples": units.samples(cycles) if self.quantity.wire else None,
                }
                for seq, cycles in self.worst
            ],
        }


def rows(residuals: pl.DataFrame) -> list[Row]:
    """The rows: for each quantity one of all, then one of each kind if there are several."""
    return [row for quantity in QUANTITIES for row in _of(quantity, residuals)]


def _of(quantity: Quantity, residuals: pl.DataFrame) -> Iterator[Row]:
    every = residuals.filter(pl.col("quantity") == quantity.key)
    if every.is_empty():
        return
    yield _row(quantity, None, every)
    kinds = sorted(every["kind"].drop_nulls().unique())
    for kind in kinds:
        yield _row(quantity, kind, every.filter(pl.col("kind") == kind))


def _row(quantity: Quantity, kind: str | None, of: pl.DataFrame) -> Row:
    worst = of.sort(pl.col("residual").abs(), descending=True, maintain_order=True).head(MOST_WORST)
    return Row(
        quantity=quantity,
        kind=kind,
        cycles=summarise(of["residual"].to_numpy()),
        beyond=beyond(of).height,
        budget_cycles=float(of.select(pl.col("budget").max()).item()),
        worst=tuple((seq, value) for seq, value in worst.select("seq", "residual").rows() if value),
    )


_MOST_NUMBERS = 5
_OF_OPERATIONS = (*CYCLES, "critical_pulse", "operation_pulse")
_LATENCIES = ("interrupt_latency", "task_latency", "control_latency")


def sentence(trials: Trials, claimed: int | None, units: Units) -> str:
    """The verdict. `claimed` is the board's FLASH_ACR."""
    n = trials.given.board.operations.height
    otherwise = len(trials.unjoined.other_outcome)
    but = f"; {otherwise:,} of another outcome could not be compared" if otherwise else ""
    if trials.holds:
        causes = ", and ".join(_cause(hypothesis, claimed) for hypothesis in trials.holds)
        return f"{causes[0].upper()}{causes[1:]}; with this taken out, {_left(trials, n, units)}{but}."
    if beyond(trials.first).is_empty():
        return f"The board agrees with the virtual board {_agreement(trials.first, n, units)}{but}."
    return f"Against the virtual board {_differing(trials)}, and {_unexplained(trials)}{but}."


def _cause(hypothesis: Hypothesis, claimed: int | None) -> str:
    assumed = hypothesis.assumed
    if hypothesis.key == CLOCK:
        pace = clock_words(assumed.ratio, hypothesis.clock_uncertainty)
        return f"the board's clock runs {pace} against the analyzer"
    if hypothesis.key == FLASH:
        assert assumed.flash_acr is not None and claimed is not None
        return (
            f"the board's flash works as with FLASH_ACR={assumed.flash_acr:#010x} "
            f"({hypotheses.in_words(assumed.flash_acr)}), not as with the {claimed:#010x} that it claims"
        )
    if hypothesis.key == PLACEMENT:
        return f"the board's code lies {assumed.shift_bytes} bytes further on (modulo 16) than the image's"
    return f"stimuli met the code at another phase, which decides {hypothesis.left_out:,} values"


def _compared(trials: Trials) -> int:
    """The number of compared operations, with all true hypotheses: some may be left out."""
    return trials.last.filter(pl.col("quantity") == CYCLES[0]).height


def _agreement(residuals: pl.DataFrame, n: int, units: Units, others: str = "") -> str:
    every = f"to the cycle in {_all(n)}{others}"
    if not residuals.filter(pl.col("residual") != 0).height:
        return every
    sample_ns = 1e9 / units.samplerate_hz
    return f"{every}, and on the wire within the error budget (a sample is {sample_ns:.1f} ns)"


def _left(trials: Trials, n: int, units: Units) -> str:
    last = trials.last
    if not beyond(last).is_empty():
        return _differing(trials)
    if not last.filter(pl.col("residual") != 0).height:
        return "all residuals are zero"
    compared = _compared(trials)
    others = f" that are left of {n:,}" if compared < n else ""
    return f"both agree {_agreement(last, compared, units, others)}"


def _unexplained(trials: Trials) -> str:
    tried = [trial for trial in trials.hypotheses if trial.removed is not None and trial.removed > 0]
    words = "no hypothesis explains it"
    if tried:
        nearest = max(tried, key=lambda trial: trial.removed or 0.0)
        words += f" (the nearest, {nearest.words}, removes {nearest.removed:.0%} of the excess)"
    return words


def _differing(trials: Trials) -> str:
    """A sentence on what exceeds the budgets after all true hypotheses are taken out."""
    over = beyond(trials.last)
    n = _compared(trials)
    parts = []
    cycles = over.filter(pl.col("quantity").is_in(_OF_OPERATIONS))
    numbers = cycles["seq"].unique().sort().to_list()
    if numbers:
        others = "" if len(numbers) == n else f", and the other {n - len(numbers):,} agree to the cycle"
        parts.append(
            f"{len(numbers):,} of {n:,} operations differ ({listed(numbers)}), by at most "
            f"{_largest(cycles)} cycles{others}"
        )
    else:
        left = " that are left" if n < trials.given.board.operations.height else ""
        parts.append(f"{_all(n)}{left} agree{'s' if n == 1 else ''} to the cycle")
    answers = over.filter(pl.col("quantity").is_in(_LATENCIES))
    if answers.height:
        word = "answer of an interrupt comes" if answers.height == 1 else "answers of interrupts come"
        parts.append(f"{answers.height:,} {word} up to {_largest(answers)} cycles earlier or later")
    begins = over.filter(pl.col("quantity") == "begin")
    if begins.height and len(parts) == 1:
        parts.append(f"{begins.height:,} operations begin up to {_largest(begins)} cycles earlier or later")
    return "; ".join(parts)


def _all(n: int) -> str:
    return "the only operation" if n == 1 else f"all {n:,} operations"


def _largest(over: pl.DataFrame) -> str:
    return f"{over.select(pl.col('residual').abs().max()).item():,.0f}"


def listed(numbers: Sequence[int]) -> str:
    """The first few of some numbers: `60, 61, 62, 63, 64, …`."""
    shown = ", ".join(f"{number:,}" for number in numbers[:_MOST_NUMBERS])
    return shown if len(numbers) <= _MOST_NUMBERS else f"{shown}, …"


# Where the cycles come from by which an operation differs: the same each time, or by its probes.
#
# A line is fitted through probes and residual. The part of the residuals' variation that it takes
# away is its share.


_LEAST_SHARE = 0.05
_QUANTITY = "dwt_operation_cycles"


@dataclass(frozen=True)
class Causes:
    """Of the `undisturbed` operations, which no interrupt met; `differing` of all differ.
    `met_otherwise` counts those that other interrupts met on the board.

    `constant_cycles` is the difference where it is the same in all that are undisturbed;
    `cycles_per_probe` the slope of the line through the probes, and `share` what it takes away:
    None where that is little.
    """

    undisturbed: int
    met_otherwise: int
    differing: int
    constant_cycles: float | None
    cycles_per_probe: float | None
    share: float | None


def find(given: Pair) -> Causes:
    """What the difference in cycles is in proportion to."""
    ours, theirs = given.board.operations, given.twin.operations
    residual = (ours[_QUANTITY].cast(pl.Int64) - theirs[_QUANTITY].cast(pl.Int64)).to_numpy()
    hits = [(side["isr_hits"] + side["control_hits"]).to_numpy() for side in (ours, theirs)]
    free: npt.NDArray[np.bool_] = (hits[0] == 0) & (hits[1] == 0)
    apart = residual[free].astype(np.float64)
    constant = float(apart[0]) if len(apart) and np.ptp(apart) == 0 else None
    probes = theirs["probes"].fill_null(0).to_numpy()[free].astype(np.float64)
    slope, share = _fitted(probes, apart) if len(apart) > 1 and constant is None else (0.0, 0.0)
    in_proportion = share >= _LEAST_SHARE
    return Causes(
        undisturbed=len(apart),
        met_otherwise=int(np.count_nonzero(hits[0] != hits[1])),
        differing=int(np.count_nonzero(residual)),
        constant_cycles=constant,
        cycles_per_probe=slope if in_proportion else None,
        share=share if in_proportion else None,
    )


def _fitted(counts: npt.NDArray[np.float64], apart: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Slope and share of the line through both; none where nothing varies."""
    x, y = counts - counts.mean(), apart - apart.mean()
    spread = float(x @ x)
    if spread == 0:
        return 0.0, 0.0
    slope = float(x @ y) / spread
    return slope, slope * slope * spread / float(y @ y)
