"""A board's run beside its twin: joined, subtracted, and explained (docs/reference/twin.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from analysis.errors import TwinError
from analysis.explain.replay import elf_of, moved_elf_of
from analysis.twin import verdict
from analysis.twin.hypotheses import Bench, Hypothesis, Trials, try_all
from analysis.twin.replay import Board, read_board
from analysis.twin.residuals import CYCLES, beyond
from analysis.twin.verdict import Row, Units, listed, rows, sentence

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
    causes: verdict.Causes | None

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
        unjoined = self.trials.unjoined
        return beyond(self.trials.last).is_empty() and not unjoined.other_outcome

    @cached_property
    def verdict(self) -> str:
        """One sentence."""
        words = sentence(self.trials, self.board.claimed_flash_acr, self.units)
        # No board has part in it.
        return words.replace("The board", "The run", 1) if self.with_itself else words

    @cached_property
    def rows(self) -> list[Row]:
        """The residuals with nothing assumed."""
        return rows(self.trials.first)

    @cached_property
    def rows_left(self) -> list[Row]:
        """The residuals with all that holds."""
        return rows(self.trials.last)

    @property
    def notes(self) -> list[str]:
        """Sentences on what must be known beside the verdict."""
        manifest, unjoined = self.board.manifest, self.trials.unjoined
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
            "not_in_run": list(trials.unjoined.only_planned),
            "other_outcome": list(trials.unjoined.other_outcome),
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
    return Comparison(folder, board, trials, verdict.find(trials.given) if differs else None)


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
