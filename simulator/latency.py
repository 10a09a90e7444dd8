"""How long an interrupt would wait: `virtual-nucleo latency`.

See docs/reference/simulator-files.md.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from base.processes import signals
from simulator.build import build
from simulator.outputs import Note, hexadecimal, notes_of, read_table
from simulator.process import run_to_end
from simulator.program import UserProgram
from simulator.run import Instant, instant

_ANSWERS, _STATS = "answers.csv", "stats.json"


@dataclass(frozen=True)
class Question:
    """What to pend, and at which cycles.

    `exception` is 16 + N for interrupt N. Without `start` the cycles begin where the program first
    enables it. They end before `until`. A sweep takes each `every`-th; None lets the simulator
    choose. A positive `random` draws so many with `seed` instead. `enable` lets the board enable
    the interrupt at that priority (0 to 15) when it pends it. Without `start`, they begin at cycle
    `not_before` if the program enables it earlier.
    """

    exception: int
    until: Instant
    start: Instant | None = None
    every: int | None = None
    random: int = 0
    seed: int = 1
    enable: int | None = None
    not_before: int = 0

    @property
    def arguments(self) -> list[str]:
        """The words of virtual-nucleo's command line."""
        words = ["--exception", str(self.exception), "--until", instant(self.until)]
        words += [] if self.start is None else ["--from", instant(self.start)]
        words += ["--not-before", str(self.not_before)] if self.start is None and self.not_before else []
        words += [] if self.every is None else ["--every", str(self.every)]
        words += ["--random", str(self.random), "--seed", str(self.seed)] if self.random else []
        words += [] if self.enable is None else ["--enable", str(self.enable)]
        return words


class Answer(NamedTuple):
    """What became of neighbouring `pends`: the `outcome`, and if that is "taken" the cycle in which
    they were, all the same one. `pc` was executed as the first came, in the handler
    `exception`; `waits` is what they waited for, as the file has it.
    """

    first_pended: int
    last_pended: int
    pends: int
    taken: int
    outcome: str
    core_hz: str
    pc: int
    exception: int
    waits: str | None

    @property
    def cycles(self) -> int:
        """How long the first waited, if it was taken."""
        return self.taken - self.first_pended


@dataclass(frozen=True)
class Answers:
    """What became of the pends.

    `first_use_cycle` is where the program first enabled the interrupt; None if it never did, or if
    nobody looked since the board enables it. `used` are the exceptions that the program enabled or
    took by then. `handler` is the word of the vector table. The pends lay from `first_cycle` to
    before `end_cycle`, `every` apart; None if they were drawn.

    `ended` says why the run ended early, in the simulator's words; empty if it did not. `notes` are
    what was odd in the undisturbed run.
    """

    first_use_cycle: int | None
    used: tuple[int, ...]
    handler: int | None
    first_cycle: int
    end_cycle: int
    every: int | None
    rows: tuple[Answer, ...]
    ended: str
    notes: tuple[Note, ...] = ()


def ask(program: UserProgram, question: Question) -> Answers:
    """Pends the interrupt in copies of the program's run. Raises SimulatorError."""
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-latency-") as name:
        folder = Path(name)
        command: list[str | Path] = [build(), "latency", *program.arguments, *question.arguments]
        command += ["--answers", _ANSWERS, "--stats", _STATS]
        ended = run_to_end(command, folder / _STATS)
        document = json.loads((folder / _STATS).read_text(encoding="utf-8"))
        readers: list[Callable[[str], Any]] = [*[int] * 4, str, str, hexadecimal, int, str]
        return Answers(
            first_use_cycle=document["first_use_cycle"],
            used=tuple(document["used"]),
            handler=None if document["handler"] is None else int(document["handler"], 16),
            first_cycle=document["first_cycle"],
            end_cycle=document["end_cycle"],
            every=document["every"],
            rows=tuple(Answer(*row) for row in read_table(folder / _ANSWERS, Answer._fields, *readers)),
            ended=ended,
            notes=notes_of(document["notes"]),
        )
