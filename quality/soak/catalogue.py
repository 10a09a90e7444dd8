"""The faults that a desk can have: those of faults.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COMPLETE, TRUNCATED, REFUSED = "complete", "truncated", "refused"
"""Verdicts that are looked for, and REFUSED where nothing was captured and a sentence says why."""


@dataclass(frozen=True)
class DeskFault:
    """One fault.

    `verdict` is the outcome that is due, and `says` part of a sentence that must come with it; an
    ellipsis in it stands for any words.
    `requests` are lines for the desk's control socket (docs/how-to/desk.md), sent before
    the run. `act` is done when the bench is at `step` (acts.py). `records` says what carries the
    records, uart or rtt. `other_firmware`: the flash holds the firmware of another allocator at
    first. `notes` is part of a warning that a complete run must have. `loses_cycles`: some
    operations have no cycles by DWT, so that statistic may differ from a run without.
    """

    name: str
    injected: str
    verdict: str
    detected_by: str
    says: str
    requests: Sequence[str] = ()
    step: str = ""
    act: str = ""
    records: str = "uart"
    other_firmware: bool = False
    notes: str = ""
    loses_cycles: bool = False
    boards: Sequence[str] = ("desk",)

    @property
    def exit_status(self) -> int:
        """Of the command: 0 for a complete run alone, 143 after a SIGTERM."""
        if self.act == "terminate":
            return 143
        return 0 if self.verdict == COMPLETE else 1

    def is_said_in(self, sentence: str) -> bool:
        """True if a sentence is the one that is due."""
        return _is_part(self.says, sentence)

    def is_noted_in(self, warning: str) -> bool:
        """True if a warning is the one that is due."""
        return _is_part(self.notes, warning)

    @property
    def kept(self) -> str:
        """What is kept of the run."""
        return "nothing" if self.verdict == REFUSED else "all that came"


def _is_part(words: str, sentence: str) -> bool:
    return re.search(".*".join(map(re.escape, words.split("…"))), sentence) is not None


_ROWS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))["fault"]
FAULTS = tuple(DeskFault(**row) for row in _ROWS)
NONE = FAULTS[0]


def named(name: str) -> DeskFault:
    """The fault called `name`. Raises KeyError."""
    return {fault.name: fault for fault in FAULTS}[name]
