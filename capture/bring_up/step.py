"""What a step of the bring-up says, and when the next one means something."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from base.files.errors import TailscopeError
from base.tell import Tell

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
    """A step: what it is called by, what it asks, and what to do where the answer is no."""

    key: str
    question: str
    remedy: str


STEPS = (
    Step("tools", "Is everything installed?", "Install what is named; as root, ./lab does it."),
    Step(
        "rights",
        "May you use what is plugged in, and does nobody else?",
        "Type the command that installs the udev rules, then plug in anew.",
    ),
    Step(
        "desk",
        "Is there one analyzer, one probe, one port?",
        "Take a USB cable that carries data, or name one of several in bench.toml.",
    ),
    Step(
        "probe",
        "Is the firmware of the probe new enough?",
        "Update it with ST's STSW-LINK007, and end what else uses it.",
    ),
    Step(
        "load",
        "Does the flash take a firmware?",
        "Look up the words in docs/how-to/troubleshooting.md.",
    ),
    Step(
        "again",
        "Does it take one behind a run, too?",
        "Wire the probe's NRST, or put BOOT0 high, and press the black button.",
    ),
    Step(
        "wiring",
        "Is each clip on its pin?",
        "Swap, move or press on the clips; take short wires, ground's first.",
    ),
    Step(
        "line",
        "Do the records come, whole and in order?",
        "Take a port without a hub, end what else has it open, and see that SB13 and SB14 are closed.",
    ),
    Step(
        "noise",
        "Do inputs see edges where no pin moves?",
        "Shorten the wires, ground's first; take a second ground.",
    ),
    Step(
        "threshold",
        "Are rising and falling edges seen alike?",
        "Set the analyzer's threshold to half of 3.3 V, about 1.6 V, if it can be set.",
    ),
    Step(
        "rate",
        "Does the analyzer keep up?",
        "Give the analyzer its own USB port, without a hub, or set a lower samplerate in bench.toml.",
    ),
    Step(
        "clock",
        "Do the clocks of board and analyzer agree?",
        "See that the 8 MHz reach the board (docs/reference/wiring.md), and that the analyzer has the "
        "samplerate.",
    ),
    Step(
        "number", "What does the board measure?", "Read the run's reasons in docs/how-to/troubleshooting.md."
    ),
    Step(
        "twin", "Does the virtual board do the same?", "See what differs: ./lab twin RUN --output twin.html"
    ),
)
"""In the order in which things fail. docs/how-to/bring-up.md has the same."""


@dataclass(frozen=True)
class Done:
    """A step that is done, its remedy behind what else there is to do."""

    step: Step
    outcome: Outcome


@dataclass(frozen=True)
class BringUp:
    """A bring-up as far as it went.

    `versions` are of the tools, `wiring` is the plan of the clips (capture/wiring/plan.py), and
    `runs` are the names of the folders of its runs.
    """

    board: str
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
        return self.stopped is None and len(self.steps) == len(STEPS)

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        if self.stopped:
            place = len(self.steps)
            return (
                f"The bring-up of {self.board} stopped at step {place} of {len(STEPS)}, "
                f"{self.stopped.step.key}: {self.stopped.outcome.words}"
            )
        if not self.whole:
            return f"The bring-up of {self.board} was ended after {len(self.steps)} of {len(STEPS)} steps."
        looks = [done.step.key for done in self.steps if done.outcome.state == "look"]
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
                {"key": done.step.key, "question": done.step.question, **asdict(done.outcome)}
                for done in self.steps
            ],
            "planned": len(STEPS),
            "versions": dict(self.versions),
            "wiring": [dict(row) for row in self.wiring],
            "runs": list(self.runs),
        }


def walk(answers: Mapping[str, Callable[[], Outcome]], tell: Tell) -> Iterator[Done]:
    """Does one of STEPS after another, up to the first that says stop. `tell` hears of each before.

    A step that cannot be done, because a tool or a device fails, says stop and why. Raises
    signals.Stopped.
    """
    for step in STEPS:
        tell(f"{step.key} …")
        try:
            outcome = answers[step.key]()
        except TailscopeError as error:
            outcome = Outcome("stop", str(error))
        if outcome.state in ("stop", "look"):
            outcome = replace(outcome, todo=(*outcome.todo, step.remedy))
        yield Done(step, outcome)
        if outcome.state == "stop":
            return
