"""The words and exit statuses of what is judged, against a baseline or a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

State = Literal["as good", "better", "worse", "cannot say", "not judged"]
"""`cannot say` is a failure to judge what was asked; `not judged` is none."""

AS_GOOD, WORSE, CANNOT_SAY = 0, 1, 2
MARKS: Mapping[State, str] = {
    "worse": "✗",
    "cannot say": "?",
    "better": "+",
    "as good": "✓",
    "not judged": "·",
}
ELEMENTS: Mapping[State, Literal["failure", "error", "skipped"]] = {
    "worse": "failure",
    "cannot say": "error",
    "not judged": "skipped",
}
"""Of a report in JUnit's XML; what is good is none."""


def exit_status(states: Iterable[State]) -> int:
    """0 as good, 1 worse, 2 cannot say; worse counts before the last."""
    found = set(states)
    return WORSE if "worse" in found else CANNOT_SAY if "cannot say" in found else AS_GOOD
