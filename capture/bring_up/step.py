"""What a step of the bring-up says, and when the next one means something."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from base.files.errors import TailscopeError

State = Literal["right", "look", "stop", "skipped"]
SCHEMA = 1


@dataclass(frozen=True)
class Figure:
    """A value in its `unit`, `plus_minus` what it may be off, of `n` measured things.

    None for `plus_minus` or `n` is not known, or has no meaning.
    """

    name: str
    value: float | int | str
    unit: str = ""
    plus_minus: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Outcome:
    """`right`: go on. `look`: go on, and see to it. `stop`: what follows would mean nothing.
    `skipped`: it means nothing on this board, as `words` say.

    `todo` are sentences on what to do. `clips` are the states of the eight clips, of the wiring's
    step only.
    """

    state: State
    words: str
    todo: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    clips: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Step:
    """A step: what it is called by, what it asks, and who finds it out."""

    key: str
    question: str
    find: Callable[[], Outcome]


@dataclass(frozen=True)
class Done:
    """A step that is done."""

    key: str
    question: str
    outcome: Outcome


@dataclass(frozen=True)
class BringUp:
    """A bring-up as far as it went. `planned` counts the steps that there would be.

    `versions` are of the tools, `wiring` is the plan of the clips (capture/wiring/plan.py), and
    `runs` are the names of the folders of its runs.
    """

    board: str
    planned: int
    steps: Sequence[Done]
    versions: Mapping[str, str] = field(default_factory=dict)
    wiring: Sequence[Mapping[str, str]] = ()
    runs: Sequence[str] = ()
    analyzer: str = ""
    samplerate_hz: int = 0

    @property
    def stopped(self) -> Done | None:
        """The step that it stopped at."""
        return next((done for done in self.steps if done.outcome.state == "stop"), None)

    @property
    def whole(self) -> bool:
        """Whether it came to its end."""
        return self.stopped is None and len(self.steps) == self.planned

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        if self.stopped:
            place = len(self.steps)
            return (
                f"The bring-up of {self.board} stopped at step {place} of {self.planned}, "
                f"{self.stopped.key}: {self.stopped.outcome.words}"
            )
        if not self.whole:
            return f"The bring-up of {self.board} was ended after {len(self.steps)} of {self.planned} steps."
        looks = [done.key for done in self.steps if done.outcome.state == "look"]
        seen_to = f"; look at {', '.join(looks)}" if looks else ""
        return f"The board {self.board} measures, and its numbers may be believed{seen_to}."

    def as_json(self) -> dict[str, Any]:
        """The content of the JSON file (docs/reference/first-run.md)."""
        return {
            "schema": SCHEMA,
            "board": self.board,
            "verdict": self.verdict,
            "whole": self.whole,
            "analyzer": self.analyzer,
            "samplerate_hz": self.samplerate_hz,
            "steps": [
                {"key": done.key, "question": done.question, **asdict(done.outcome)} for done in self.steps
            ],
            "planned": self.planned,
            "versions": dict(self.versions),
            "wiring": [dict(row) for row in self.wiring],
            "runs": list(self.runs),
        }


def walk(steps: Sequence[Step], begun: Callable[[Step], None] = lambda _: None) -> Iterator[Done]:
    """Does one step after another, up to the first that says stop. `begun` hears of each before.

    A step that cannot be done, because a tool or a device fails, says stop and why. Raises
    signals.Stopped.
    """
    for step in steps:
        begun(step)
        try:
            outcome = step.find()
        except TailscopeError as error:
            outcome = Outcome("stop", str(error))
        yield Done(step.key, step.question, outcome)
        if outcome.state == "stop":
            return
