"""How much longer than the baseline something may be: `5%`, `20` cycles."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEXT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%| ?cycles)?")


@dataclass(frozen=True)
class Allowance:
    """`text` is as it was given; empty where nothing is allowed."""

    text: str = ""
    percent: float = 0.0
    cycles: float = 0.0

    def of(self, before: int) -> float:
        """So many cycles longer than `before` is allowed; of what is new, `before` is 0."""
        return self.cycles + before * self.percent / 100


def parse(text: str) -> Allowance | None:
    """The allowance of `5%`, `20` or `20cycles`; None of what is none."""
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    value = float(match[1])
    return Allowance(text, percent=value) if match[2] == "%" else Allowance(text, cycles=value)
