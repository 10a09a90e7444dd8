"""Runs back to back, on several boards, with faults drawn at random; every run is accounted for."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError, near_miss
from base.processes import signals
from quality.soak.catalogue import COMPLETE, FAULTS, NONE, DeskFault, named
from quality.soak.run import Headlines, Outcome, carry_out

LINES = "runs.jsonl"


class SoakError(TailscopeError):
    """An option that makes no sense."""


@dataclass
class Accounting:
    """The accounting of a soak."""

    seed: int
    folder: Path
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False

    @property
    def unaccounted(self) -> list[Outcome]:
        """Runs of which something is not as it is due."""
        return [outcome for outcome in self.outcomes if outcome.wrong]

    @property
    def sound(self) -> bool:
        """True if every run is accounted for."""
        return bool(self.outcomes) and not self.unaccounted

    def counts(self) -> dict[tuple[str, str, str], int]:
        """The number of runs by board, fault and verdict."""
        counts = Counter((outcome.board, outcome.fault, outcome.verdict) for outcome in self.outcomes)
        return dict(sorted(counts.items()))

    def as_json(self) -> dict[str, Any]:
        rows = [
            {"board": board, "fault": fault, "verdict": verdict, "runs": runs}
            for (board, fault, verdict), runs in self.counts().items()
        ]
        return {
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "stopped": self.stopped,
            "runs": len(self.outcomes),
            "unaccounted": len(self.unaccounted),
            "counts": rows,
            "wrong": [outcome.as_json() for outcome in self.unaccounted],
            "processes_left": sum(len(outcome.left) for outcome in self.outcomes),
            "bench_memory_most_kib": max((outcome.memory_kib for outcome in self.outcomes), default=0),
            "folder": str(self.folder),
        }


OnOutcome = Callable[[int, Outcome], None]


def soak(
    boards: Sequence[str],
    folder: Path,
    *,
    seed: int = 1,
    minutes: float | None = None,
    runs: int | None = None,
    faults: Sequence[str] = (),
    tell: OnOutcome = lambda _number, _outcome: None,
) -> Accounting:
    """Runs until `minutes` are over or `runs` are done, and a signal ends it early.

    Each run's outcome is a line of LINES in `folder` as soon as it is there. Run folders of runs
    that are not accounted for are kept beside it. `faults` names those to draw from; all if empty.
    To be called within signals.orderly(). Raises TailscopeError.
    """
    accounting = Accounting(seed, folder)
    began_s = time.monotonic()
    references: dict[str, Headlines] = {}
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "runs"
    for number, (board, fault) in enumerate(_drawn(boards, seed, faults)):
        over = minutes is not None and time.monotonic() - began_s >= 60 * minutes
        if over or number == runs or signals.asked() is not None:
            break
        try:
            outcome = carry_out(fault, board, stored, references.get(board))
        except signals.Stopped:
            break
        if fault == NONE and outcome.verdict == COMPLETE:
            references.setdefault(board, outcome.headlines)
        accounting.outcomes.append(outcome)
        _note(folder / LINES, number, accounting)
        if outcome.folder and not outcome.wrong:
            shutil.rmtree(outcome.folder, ignore_errors=True)
        tell(number, outcome)
    accounting.seconds = time.monotonic() - began_s
    accounting.stopped = signals.asked() is not None
    return accounting


def _note(path: Path, number: int, accounting: Accounting) -> None:
    """Adds the last run's line."""
    line = {"run": number, **accounting.outcomes[-1].as_json()}
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise SoakError(f"{path} cannot be written ({error.strerror}); free some space.") from None


def _drawn(boards: Sequence[str], seed: int, faults: Sequence[str]) -> Iterator[tuple[str, DeskFault]]:
    """Board and fault of each run, without end.

    The boards take turns. Each begins without a fault, which is the reference; then every fault
    comes once in a random order, and all of them again in another.
    """
    numbers = random.Random(seed)
    chosen = [named(name) for name in faults] or list(FAULTS)
    decks: dict[str, list[DeskFault]] = {board: [NONE] for board in boards}
    while True:
        for board in boards:
            if not decks[board]:
                decks[board] = [fault for fault in chosen if board in fault.boards] or [NONE]
                numbers.shuffle(decks[board])
            yield board, decks[board].pop()


def check_names(boards: Sequence[str], faults: Sequence[str]) -> None:
    """Raises SoakError for a board or a fault that is not in the catalogue."""
    known_boards = {board for fault in FAULTS for board in fault.boards}
    known = {fault.name for fault in FAULTS}
    for word, names, all_of_them in (("board", boards, known_boards), ("fault", faults, known)):
        for name in names:
            if name not in all_of_them:
                raise SoakError(
                    f"The soak has no {word} {name!r}; it has {', '.join(sorted(all_of_them))}."
                    f"{near_miss(name, all_of_them)}"
                )
    for name in faults:
        if not set(named(name).boards) & set(boards):
            raise SoakError(
                f"{name!r} comes on none of the boards {', '.join(boards)}; it is a fault of "
                f"{', '.join(named(name).boards)}."
            )


def line(number: int, outcome: Outcome) -> str:
    """One run."""
    state = "UNACCOUNTED" if outcome.wrong else "as due"
    return f"run {number}: {outcome.board}, {outcome.fault}: {outcome.verdict}, {state}"


def as_text(accounting: Accounting) -> str:
    """The accounting."""
    lines = [f"{'board':8} {'fault':26} {'outcome':13} runs"]
    lines += [
        f"{board:8} {fault:26} {verdict:13} {runs:4}"
        for (board, fault, verdict), runs in accounting.counts().items()
    ]
    for outcome in accounting.unaccounted:
        lines.append(f"{outcome.board}, {outcome.fault}: {' '.join(outcome.wrong)}")
        lines += [f"  it said: {sentence}" for sentence in outcome.sentences]
        lines += [f"  kept: {outcome.folder}"] if outcome.folder else []
    lines.append(
        f"{len(accounting.outcomes)} runs in {accounting.seconds / 60:.1f} min, "
        f"{len(accounting.unaccounted)} unaccounted for, "
        f"{sum(len(outcome.left) for outcome in accounting.outcomes)} processes left"
        f"{', stopped by a signal' * accounting.stopped}"
    )
    lines.append(
        f"a run's bench took at most "
        f"{max((outcome.memory_kib for outcome in accounting.outcomes), default=0):,} KiB"
    )
    lines.append(f"results: {accounting.folder}")
    return "\n".join(lines)
