"""What `--allow` accepts: `5%` or `20` cycles more than the baseline, rows that `vanished`, and a
program that ends `polling`; several with commas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%| ?cycles)?")


@dataclass(frozen=True)
class Allowance:
    """`text` is the amount as it was given; empty where no more cycles are allowed."""

    text: str = ""
    percent: float = 0.0
    cycles: float = 0.0
    vanished: bool = False
    polling: bool = False

    def of(self, before: int) -> float:
        """So many cycles longer than `before` is allowed; of what is new, `before` is 0."""
        return self.cycles + before * self.percent / 100


def parse(text: str) -> Allowance | None:
    """The allowance of `5%`, `20cycles,vanished`; None of what is none."""
    allowance = Allowance()
    for word in text.split(","):
        match = _AMOUNT.fullmatch(word)
        if word == "vanished":
            allowance = replace(allowance, vanished=True)
        elif word == "polling":
            allowance = replace(allowance, polling=True)
        elif match is None or allowance.text:
            return None
        elif match[2] == "%":
            allowance = replace(allowance, text=word, percent=float(match[1]))
        else:
            allowance = replace(allowance, text=word, cycles=float(match[1]))
    return allowance
