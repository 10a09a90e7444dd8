"""A board's run beside its twin: joined, subtracted, and explained (docs/reference/twin.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from analysis.errors import TwinError
from analysis.explain.replay import elf_of, moved_elf_of
from analysis.twin.hypotheses import Bench, Trials, try_all
from analysis.twin.replay import Board, read_board
from analysis.twin.residuals import CYCLES, LATENCIES, WORDS, beyond
from base.tell import Tell
from base.text_table import TextTable, printed

MOST_WORST = 5
_SHA256_DIGITS = 64


@dataclass(frozen=True)
class Row:
    """The residuals of a quantity in cycles, with nothing assumed.

    `beyond` counts those that are beyond their budgets, of which the largest is `budget_cycles`,
    and `left` those that still are with all that holds taken out. `worst` are the greatest by size:
    number of the operation (None outside of all) and residual.
    """

    quantity: str
    n: int
    min: float
    median: float
    max: float
    budget_cycles: float
    beyond: int
    left: int
    worst: tuple[tuple[int | None, float], ...]


@dataclass(frozen=True)
class Comparison(Trials):
    """The result: all that was tried of the run in `folder`."""

    folder: Path
    board: Board

    @property
    def joined(self) -> int:
        """The number of operations that both did, with the same outcome."""
        return self.given.board.operations.height

    @property
    def explained(self) -> bool:
        """True if nothing is beyond its budget with all that holds taken out."""
        return beyond(self.last).is_empty() and not self.given.other_outcome

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each quantity that was compared."""
        rows = []
        left = beyond(self.last)
        for (quantity,), of in self.first.group_by("quantity", maintain_order=True):
            residual = of["residual"]
            worst = of.filter(pl.col("residual") != 0).sort(
                pl.col("residual").abs(), descending=True, maintain_order=True
            )
            rows += [
                Row(
                    quantity=str(quantity),
                    n=of.height,
                    **{name: float(getattr(residual, name)()) for name in ("min", "median", "max")},
                    budget_cycles=float(of["budget"].max()),  # type: ignore[arg-type]
                    beyond=beyond(of).height,
                    left=left.filter(quantity=quantity).height,
                    worst=tuple(worst.head(MOST_WORST).select("seq", "residual").rows()),
                )
            ]
        return rows

    @cached_property
    def verdict(self) -> str:
        """What holds, what is left, and how far no cause was found: one to three sentences."""
        sentences = []
        over = beyond(self.last)
        subject = "The run"
        if self.holds:
            words = "; ".join(hypothesis.words for hypothesis in self.holds)
            sentences.append(f"{words[0].upper()}{words[1:]}.")
            subject = "With this taken out, the run"
        n = self.last.filter(quantity=CYCLES[0]).height
        if over.is_empty():
            sentences.append(
                f"{subject} agrees with the virtual board to the cycle in all {n:,} operations that are "
                "compared, and on the wire within the error budget."
            )
            return " ".join(sentences)
        answers = over.filter(pl.col("quantity").is_in(LATENCIES)).height
        numbers = over.filter(~pl.col("quantity").is_in(LATENCIES))["seq"].unique().sort().to_list()
        largest = over.select(pl.col("residual").abs().max()).item()
        sentences.append(
            f"{subject} differs from the virtual board beyond the error budgets in {len(numbers):,} of {n:,} "
            f"operations{f' ({_listed(numbers)})' if numbers else ''} and {answers:,} answers of "
            f"interrupts, by at most {largest:,.0f} cycles, and no hypothesis explains it."
        )
        if self.hypotheses and not self.holds and self.hypotheses[0].removed > 0:
            nearest = self.hypotheses[0]
            sentences.append(f"The nearest removes {nearest.removed:.0%} of the excess: {nearest.words}.")
        return " ".join(sentences)

    @property
    def notes(self) -> list[str]:
        """Sentences on what must be known beside the verdict."""
        manifest, given = self.board.manifest, self.given
        sentences = []
        if "virtual_nucleo" in manifest.tools:
            sentences.append(
                "The run is of the virtual board, so this compares the simulator with itself: it shows that "
                "a run can be repeated, and tells nothing of a board."
            )
        if not manifest.complete:
            sentences.append(f"The run is {manifest.verdict}: {' '.join(manifest.reasons)}")
        for words, numbers in (
            ("not in the run", given.only_planned),
            ("of another outcome than on the virtual board", given.other_outcome),
        ):
            if numbers:
                sentences.append(f"Operations that are {words} are not compared: {_listed(numbers)}.")
        return sentences

    def tables(self) -> list[TextTable]:
        """The residuals, and what was tried to explain them."""
        held = {hypothesis.key for hypothesis in self.holds}
        manifest, planned = self.board.manifest, self.board.plan.operations.height
        residuals = TextTable(
            f"Board ({manifest.board}) minus virtual board, in cycles: {manifest.scenario} with "
            f"{manifest.configuration}, {self.joined:,} of {planned:,} operations joined",
            ("quantity", "n", "min", "median", "max", "budget", "beyond", "left", "worst, by operation"),
            [
                (
                    WORDS[row.quantity],
                    f"{row.n:,}",
                    *(f"{value:+,.1f}".removesuffix(".0") for value in (row.min, row.median, row.max)),
                    f"± {row.budget_cycles:.1f}",
                    f"{row.beyond:,}",
                    f"{row.left:,}",
                    ", ".join(f"{'-' if seq is None else seq}: {cycles:+,.1f}" for seq, cycles in row.worst),
                )
                for row in self.rows
            ],
            range(1, 8),
        )
        hypotheses = TextTable(
            "What may explain it",
            ("hypothesis", "removes", "beyond then", "left out", "holds", "what was tried"),
            [
                (
                    hypothesis.key,
                    f"{hypothesis.removed:.1%}",
                    f"{hypothesis.beyond:,}",
                    f"{hypothesis.left_out:,}",
                    "yes" if hypothesis.key in held else "no",
                    hypothesis.words,
                )
                for hypothesis in self.hypotheses
            ],
            (1, 2, 3),
        )
        return [residuals, *([hypotheses] if hypotheses.lines else [])]

    def as_text(self) -> str:
        """The verdict, the notes and the tables."""
        return printed([self.verdict, *self.notes, *self.tables()])

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/twin.md describes."""
        manifest = self.board.manifest
        claimed = manifest.flash_acr
        return {
            "run": str(self.folder),
            **{name: getattr(manifest, name) for name in ("scenario", "allocator", "board")},
            "run_verdict": manifest.verdict,
            "samplerate_hz": manifest.samplerate_hz,
            "twin_samplerate_hz": self.given.twin.samplerate_hz,
            "core_hz": self.board.core_hz,
            "flash_acr": None if claimed is None else f"{claimed:08X}",
            "operations": self.board.plan.operations.height,
            "joined": self.joined,
            "not_in_run": self.given.only_planned,
            "other_outcome": self.given.other_outcome,
            "residuals": [asdict(row) for row in self.rows],
            "hypotheses": [asdict(hypothesis) for hypothesis in self.hypotheses],
            "holds": [hypothesis.key for hypothesis in self.holds],
            "operations_left": beyond(self.last)["seq"].drop_nulls().unique().sort().to_list(),
            "explained": self.explained,
            "verdict": self.verdict,
            "notes": self.notes,
        }


def _listed(numbers: tuple[int, ...] | list[int]) -> str:
    """The first few of some numbers: `60, 61, 62, 63, 64, …`."""
    shown = ", ".join(f"{number:,}" for number in numbers[:MOST_WORST])
    return shown if len(numbers) <= MOST_WORST else f"{shown}, … ({len(numbers):,} in all)"


def compare(folder: Path, tell: Tell = lambda _: None, allocator: Path | None = None) -> Comparison:
    """Replays the run in `folder` on the virtual board and compares both.

    `allocator` is the file of one from outside (elf_of()). `tell` hears what is going on. Raises
    TailscopeError: of a run without operations or image, of one whose firmware the sources do not
    build any more, and where the replay fails.
    """
    board = read_board(folder)
    if len(board.manifest.firmware.elf_sha256) != _SHA256_DIGITS:
        raise TwinError(f"{folder} does not tell which firmware ran: it has no twin; run the scenario again.")
    elf = elf_of(board.manifest, allocator)
    trials = try_all(Bench(board, lambda shift: moved_elf_of(board.manifest, shift) if shift else elf, tell))
    return Comparison(**vars(trials), folder=folder, board=board)
