"""A bring-up as far as it went, for its page and its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from capture.desk.finding import ClippedInput, Figure, State

SCHEMA = 2


@dataclass(frozen=True)
class Result:
    """What came of a check. `todo` are sentences on what to do."""

    key: str
    question: str
    state: State
    words: str
    todo: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    clips: tuple[ClippedInput, ...] = ()


@dataclass(frozen=True)
class BringUp:
    """The results of the first of `planned` checks.

    `versions` are of the tools, `wiring` is the plan of the clips (capture/wiring/plan.py), and
    `runs` are the names of the folders of its runs.
    """

    board: str
    steps: Sequence[Result]
    planned: int
    versions: Mapping[str, str] = field(default_factory=dict)
    wiring: Sequence[Mapping[str, str]] = ()
    runs: Sequence[str] = ()
    analyzer: str = ""
    samplerate_hz: int = 0

    @property
    def stopped(self) -> Result | None:
        """The check that it stopped at."""
        return next((result for result in self.steps if result.state == "wrong"), None)

    @property
    def whole(self) -> bool:
        """Whether it came to its end."""
        return self.stopped is None and len(self.steps) == self.planned

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        if self.stopped:
            return (
                f"The bring-up of {self.board} stopped at step {len(self.steps)} of {self.planned}, "
                f"{self.stopped.key}: {self.stopped.words}"
            )
        if not self.whole:
            return f"The bring-up of {self.board} was ended after {len(self.steps)} of {self.planned} steps."
        odd = [result.key for result in self.steps if result.state == "odd"]
        seen_to = f"; look at {', '.join(odd)}" if odd else ""
        return f"The board {self.board} measures, and its numbers may be believed{seen_to}."

    def as_json(self) -> dict[str, Any]:
        """The content of the JSON file (docs/reference/first-run.md)."""
        return {"schema": SCHEMA, "verdict": self.verdict, "whole": self.whole, **asdict(self)}
