"""What came of the comparison, in one sentence."""

from __future__ import annotations

import polars as pl

from analysis.twin import flash
from analysis.twin.hypotheses import CLOCK, FLASH, PLACEMENT, Hypothesis, Trials, clock_words
from analysis.twin.residuals import CYCLES, beyond
from analysis.twin.statistics import Units

_MOST_NUMBERS = 5
_OF_OPERATIONS = (*CYCLES, "critical_pulse", "operation_pulse")
_LATENCIES = ("interrupt_latency", "task_latency", "control_latency")


def sentence(trials: Trials, claimed: int | None, units: Units) -> str:
    """The verdict. `claimed` is the board's FLASH_ACR."""
    n = trials.given.board.operations.height
    otherwise = len(trials.unjoined.other_outcome)
    but = f"; {otherwise:,} of another outcome could not be compared" if otherwise else ""
    if trials.holds:
        causes = ", and ".join(_cause(one, claimed) for one in trials.holds)
        return f"{causes[0].upper()}{causes[1:]}; with this taken out, {_left(trials, n, units)}{but}."
    if beyond(trials.first).is_empty():
        return f"The board agrees with the virtual board {_agreement(trials.first, n, units)}{but}."
    return f"Against the virtual board {_differing(trials)}, and {_unexplained(trials)}{but}."


def _cause(one: Hypothesis, claimed: int | None) -> str:
    assumed = one.assumed
    if one.key == CLOCK:
        return f"the board's clock runs {_clock(one)} against the analyzer"
    if one.key == FLASH:
        assert assumed.flash_acr is not None and claimed is not None
        return (
            f"the board's flash works as with FLASH_ACR={assumed.flash_acr:#010x} "
            f"({flash.in_words(assumed.flash_acr)}), not as with the {claimed:#010x} that it claims"
        )
    if one.key == PLACEMENT:
        return f"the board's code lies {assumed.shift_bytes} bytes further on (modulo 16) than the image's"
    return f"stimuli met the code at another phase, which decides {one.left_out:,} values"


def _clock(one: Hypothesis) -> str:
    return clock_words(one.assumed.ratio, one.clock_uncertainty)


def _compared(trials: Trials) -> int:
    """How many operations are compared with all that holds: some may be left out."""
    return trials.last.filter(pl.col("quantity") == CYCLES[0]).height


def _agreement(found: pl.DataFrame, n: int, units: Units, others: str = "") -> str:
    every = f"to the cycle in {_all(n)}{others}"
    if not found.filter(pl.col("residual") != 0).height:
        return every
    sample_ns = 1e9 / units.samplerate_hz
    return f"{every}, and on the wire within the error budget (a sample is {sample_ns:.1f} ns)"


def _left(trials: Trials, n: int, units: Units) -> str:
    last = trials.last
    if not beyond(last).is_empty():
        return _differing(trials)
    if not last.filter(pl.col("residual") != 0).height:
        return "all residuals are zero"
    kept = _compared(trials)
    others = f" that are left of {n:,}" if kept < n else ""
    return f"both agree {_agreement(last, kept, units, others)}"


def _unexplained(trials: Trials) -> str:
    tried = [one for one in trials.hypotheses if one.removed is not None and one.removed > 0]
    words = "no hypothesis explains it"
    if tried:
        nearest = max(tried, key=lambda one: one.removed or 0.0)
        words += f" (the nearest, {nearest.found}, removes {nearest.removed:.0%} of the excess)"
    return words


def _differing(trials: Trials) -> str:
    """What is beyond the budgets with all that holds taken out."""
    over = beyond(trials.last)
    n = _compared(trials)
    parts = []
    cycles = over.filter(pl.col("quantity").is_in(_OF_OPERATIONS))
    numbers = cycles["seq"].unique().sort().to_list()
    if numbers:
        others = "" if len(numbers) == n else f", and the other {n - len(numbers):,} agree to the cycle"
        parts.append(
            f"{len(numbers):,} of {n:,} operations differ ({_listed(numbers)}), by at most "
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


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:_MOST_NUMBERS])
    return shown if len(numbers) <= _MOST_NUMBERS else f"{shown}, …"
