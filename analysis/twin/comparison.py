"""A board's run beside its twin: joined, subtracted, and explained (docs/reference/twin.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import StatisticsError, correlation, linear_regression
from typing import Any

import polars as pl

from analysis.errors import TwinError
from analysis.explain.replay import elf_of, moved_elf_of
from analysis.twin import hypotheses
from analysis.twin.hypotheses import CLOCK, FLASH, PLACEMENT, Bench, Hypothesis, Trials, clock_words, try_all
from analysis.twin.replay import Board, read_board
from analysis.twin.residuals import CYCLES, LATENCIES, QUANTITIES, Pair, Quantity, beyond
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


def rows_of(residuals: pl.DataFrame) -> list[Row]:
    """The rows: for each quantity one of all, then one of each kind if there are several."""
    rows = []
    for quantity in QUANTITIES:
        every = residuals.filter(pl.col("quantity") == quantity.key)
        if every.is_empty():
            continue
        for kind in (None, *sorted(every["kind"].drop_nulls().unique())):
            of = every if kind is None else every.filter(pl.col("kind") == kind)
            worst = of.sort(pl.col("residual").abs(), descending=True, maintain_order=True).head(MOST_WORST)
            row = Row(
                quantity=quantity,
                kind=kind,
                cycles=summarise(of["residual"].to_numpy()),
                beyond=beyond(of).height,
                budget_cycles=float(of.select(pl.col("budget").max()).item()),
                worst=tuple((seq, value) for seq, value in worst.select("seq", "residual").rows() if value),
            )
            rows.append(row)
    return rows


_MOST_NUMBERS = 5
_OF_OPERATIONS = (*CYCLES, "critical_pulse", "operation_pulse")


def verdict_of(trials: Trials, claimed: int | None, units: Units) -> str:
    """The verdict. `claimed` is the board's FLASH_ACR."""
    n = trials.given.board.operations.height
    otherwise = len(trials.given.other_outcome)
    but = f"; {otherwise:,} of another outcome could not be compared" if otherwise else ""
    last = trials.last
    if not beyond(last).is_empty():
        left = _differing(trials)
    elif trials.holds and not last.filter(pl.col("residual") != 0).height:
        left = "all residuals are zero"
    else:
        compared = _compared(trials)
        left = f"to the cycle in {_all(compared)}{f' that are left of {n:,}' if compared < n else ''}"
        if last.filter(pl.col("residual") != 0).height:
            sample_ns = 1e9 / units.samplerate_hz
            left += f", and on the wire within the error budget (a sample is {sample_ns:.1f} ns)"
        left = f"both agree {left}" if trials.holds else f"The board agrees with the virtual board {left}"
    if trials.holds:
        causes = ", and ".join(_cause(hypothesis, claimed) for hypothesis in trials.holds)
        return f"{causes[0].upper()}{causes[1:]}; with this taken out, {left}{but}."
    if beyond(last).is_empty():
        return f"{left}{but}."
    unexplained = "no hypothesis explains it"
    nearest = max(trials.hypotheses, key=lambda trial: trial.removed or 0.0)
    if nearest.removed is not None and nearest.removed > 0:
        removed = f"removes {nearest.removed:.0%} of the excess"
        unexplained += f" (the nearest, {nearest.words}, {removed})"
    return f"Against the virtual board {left}, and {unexplained}{but}."


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
    answers = over.filter(pl.col("quantity").is_in(LATENCIES))
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


# Where the cycles come from by which an operation differs.


_LEAST_SHARE = 0.05


@dataclass(frozen=True)
class Causes:
    """Of the `undisturbed` operations, which no interrupt met; `differing` of all differ.
    `met_otherwise` counts those that other interrupts met on the board.

    `cycles_per_probe` is the slope of a line through the probes and the differences, and `share`
    the part of the differences' variation that it takes away: None where that is little.
    """

    undisturbed: int
    met_otherwise: int
    differing: int
    cycles_per_probe: float | None
    share: float | None


def causes_of(given: Pair) -> Causes:
    """What the difference in cycles is in proportion to."""
    ours, theirs = given.board.operations, given.twin.operations
    residual = ours[CYCLES[1]].cast(pl.Int64) - theirs[CYCLES[1]].cast(pl.Int64)
    hits = [side["isr_hits"] + side["control_hits"] for side in (ours, theirs)]
    free = (hits[0] == 0) & (hits[1] == 0)
    apart, probes = residual.filter(free).to_list(), theirs["probes"].fill_null(0).filter(free).to_list()
    try:
        slope, share = linear_regression(probes, apart).slope, correlation(probes, apart) ** 2
    except StatisticsError:  # nothing varies
        slope, share = 0.0, 0.0
    is_in_proportion = share >= _LEAST_SHARE
    return Causes(
        undisturbed=len(apart),
        met_otherwise=int((hits[0] != hits[1]).sum()),
        differing=int((residual != 0).sum()),
        cycles_per_probe=slope if is_in_proportion else None,
        share=share if is_in_proportion else None,
    )


WITH_ITSELF = (
    "The run is of the virtual board, so this compares the simulator with itself: it shows that a run can be "
    "repeated, and tells nothing of a board."
)


@dataclass(frozen=True)
class Comparison:
    """The result. `causes` is None if all cycles are equal: there is nothing to look for."""

    folder: Path
    board: Board
    trials: Trials
    causes: Causes | None

    @property
    def units(self) -> Units:
        return Units(self.board.core_hz, self.board.manifest.samplerate_hz)

    @property
    def joined(self) -> int:
        """The number of operations that both did, with the same outcome."""
        return self.trials.given.board.operations.height

    @property
    def with_itself(self) -> bool:
        """True if the run is of the virtual board, too."""
        return "virtual_nucleo" in self.board.manifest.tools

    @property
    def explained(self) -> bool:
        """True if nothing is beyond its budget with all that holds taken out."""
        unjoined = self.trials.given
        return beyond(self.trials.last).is_empty() and not unjoined.other_outcome

    @cached_property
    def verdict(self) -> str:
        """One sentence."""
        words = verdict_of(self.trials, self.board.claimed_flash_acr, self.units)
        # No board has part in it.
        return words.replace("The board", "The run", 1) if self.with_itself else words

    @cached_property
    def rows(self) -> list[Row]:
        """The residuals with nothing assumed."""
        return rows_of(self.trials.first)

    @cached_property
    def rows_left(self) -> list[Row]:
        """The residuals with all that holds."""
        return rows_of(self.trials.last)

    @property
    def notes(self) -> list[str]:
        """Sentences on what must be known beside the verdict."""
        manifest, unjoined = self.board.manifest, self.trials.given
        sentences = [WITH_ITSELF] if self.with_itself else []
        if not manifest.complete:
            sentences.append(f"The run is {manifest.verdict}: {' '.join(manifest.reasons)}")
        if unjoined.only_planned:
            sentences.append(f"Of the plan {_counted(unjoined.only_planned)} not in the run: not compared.")
        if unjoined.other_outcome:
            sentences.append(
                f"Of the operations {_counted(unjoined.other_outcome)} of another outcome than on the "
                "virtual board: not compared."
            )
        if manifest.records == "rtt":
            sentences.append(
                "The records of the run left by RTT; its twin sends them by the serial line, so operations "
                "begin at other times, and stimuli may meet them otherwise."
            )
        return sentences

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/twin.md describes."""
        manifest, trials, units = self.board.manifest, self.trials, self.units
        claimed = self.board.claimed_flash_acr
        left = beyond(trials.last)
        return {
            "run": str(self.folder),
            "scenario": manifest.scenario,
            "allocator": manifest.allocator,
            "board": manifest.board,
            "run_verdict": manifest.verdict,
            "samplerate_hz": manifest.samplerate_hz,
            "twin_samplerate_hz": trials.given.twin.samplerate_hz,
            "core_hz": units.core_hz,
            "flash_acr": None if claimed is None else f"{claimed:08X}",
            "operations": self.board.plan.operations.height,
            "joined": self.joined,
            "not_in_run": list(trials.given.only_planned),
            "other_outcome": list(trials.given.other_outcome),
            "residuals": [row.as_json(units) for row in self.rows],
            "hypotheses": [_tried(hypothesis, trials.held(hypothesis)) for hypothesis in trials.hypotheses],
            "holds": [hypothesis.key for hypothesis in trials.holds],
            "residuals_left": [row.as_json(units) for row in self.rows_left],
            "beyond_left": left.height,
            "operations_left": left["seq"].drop_nulls().unique().sort().to_list(),
            "causes": None if self.causes is None else asdict(self.causes),
            "explained": self.explained,
            "verdict": self.verdict,
            "notes": self.notes,
        }


def _counted(numbers: tuple[int, ...]) -> str:
    """`1 (5) is` or `12 (60, 61, …) are`."""
    return f"{len(numbers):,} ({listed(numbers)}) {'is' if len(numbers) == 1 else 'are'}"


def compare(
    folder: Path, tell: Callable[[str], None] = lambda _: None, allocator: Path | None = None
) -> Comparison:
    """Replays the run in `folder` on the virtual board and compares both.

    `allocator` is the file of one from outside (elf_of()). `tell` hears what is going on. Raises
    TailscopeError: of a run without operations or image, of one whose firmware the sources do not
    build any more, and where the replay fails.
    """
    board = read_board(folder)
    if not board.manifest.firmware.elf_sha256.isalnum() or board.manifest.firmware.elf_sha256 == "unknown":
        raise TwinError(f"{folder} does not tell which firmware ran: it has no twin; run the scenario again.")
    elf = elf_of(board.manifest, allocator)
    bench = Bench(board, elf, lambda shift: moved_elf_of(board.manifest, shift), tell)
    trials = try_all(bench)
    differs = not beyond(trials.first).filter(pl.col("quantity").is_in(CYCLES)).is_empty()
    return Comparison(folder, board, trials, causes_of(trials.given) if differs else None)


def _tried(hypothesis: Hypothesis, holds: bool) -> dict[str, Any]:
    assumed = hypothesis.assumed
    is_tried = hypothesis.removed is not None
    return {
        "hypothesis": hypothesis.key,
        "found": hypothesis.words,
        "removed": hypothesis.removed,
        "beyond": hypothesis.beyond,
        "left_out": hypothesis.left_out,
        "holds": holds,
        "clock_ppm": (assumed.ratio - 1) * 1e6 if is_tried and assumed.ratio != 1.0 else None,
        "clock_uncertainty_ppm": hypothesis.clock_uncertainty * 1e6 if hypothesis.clock_uncertainty else None,
        "flash_acr": None if assumed.flash_acr is None else f"{assumed.flash_acr:08X}",
        "shift_bytes": assumed.shift_bytes or None,
        "tried": [
            {"flash_acr": f"{each.flash_acr:08X}", "mean_cycles": each.mean_cycles}
            for each in hypothesis.tried
        ],
    }
