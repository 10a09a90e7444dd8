"""What the gate says: of each run, of each quantity, and in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analysis.compare.settings import Change

State = Literal["as good", "better", "worse", "cannot say", "not judged"]
"""`cannot say` is a failure to judge what was asked; `not judged` is none."""

AS_GOOD, WORSE, CANNOT_SAY = 0, 1, 2


@dataclass(frozen=True)
class Check:
    """One quantity of one run. `named` are operations, the first of `changed`."""

    quantity: str
    state: State
    sentence: str
    named: tuple[str, ...] = ()
    changed: int = 0


@dataclass(frozen=True)
class Judged:
    """One run, or several of equal settings.

    `refusal` is the sentence why nothing can be said, else None. `changes` are the settings that
    the sources or tools decided otherwise than in the baseline.
    """

    folders: tuple[str, ...]
    name: str
    checks: tuple[Check, ...] = ()
    refusal: str | None = None
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        if any(check.state == "worse" for check in self.checks):
            return WORSE
        if self.refusal or any(check.state == "cannot say" for check in self.checks):
            return CANNOT_SAY
        return AS_GOOD

    @property
    def state(self) -> State:
        """The whole of it in one word."""
        if self.exit_status:
            return "worse" if self.exit_status == WORSE else "cannot say"
        return "better" if any(check.state == "better" for check in self.checks) else "as good"


@dataclass(frozen=True)
class Report:
    """All runs. `notes` are sentences on what is no run's."""

    baseline: str | None
    runs: tuple[Judged, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 as good, 1 worse, 2 cannot say; worse counts before the last."""
        found = {run.exit_status for run in self.runs}
        return WORSE if WORSE in found else max(found, default=CANNOT_SAY)
