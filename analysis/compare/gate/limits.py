"""Limits in absolute terms: no critical section above 10 us, whatever the baseline says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.compare.gate.measured import Measured
from analysis.compare.gate.outcome import LATENCIES, SECTIONS_CYCLES, SECTIONS_NS, Check
from analysis.errors import GateError
from analysis.limits import NS, by_name
from base.run_folder.named_quantities import named

_EXAMPLE = "allocate=10us or free=900cycles"
_LIMIT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?(ns|us|µs|ms|cycles)")


@dataclass(frozen=True)
class Limit:
    """No measured value of `quantity` may be above `value`. `text` is the limit as it was given."""

    quantity: str
    value: float
    unit: Literal["ns", "cycles"]
    text: str

    @property
    def key(self) -> str:
        """Where run.json has the quantity."""
        sections = SECTIONS_CYCLES if self.unit == "cycles" else SECTIONS_NS
        return {**sections, **LATENCIES}[self.quantity]


def parse(quantity: str, text: str) -> Limit:
    """The limit of `allocate` and `10us`. Raises GateError."""
    named(quantity[:40], GateError)
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise GateError(
            f"{text[:40]!r} is no limit of {quantity}: give a time or cycles, such as {_EXAMPLE}."
        )
    unit: Literal["ns", "cycles"] = "cycles" if match[2] == "cycles" else "ns"
    if unit == "cycles" and quantity not in SECTIONS_CYCLES:
        raise GateError(
            f"A limit of {quantity} is a time, since it is read off the wire: say so, such as {_EXAMPLE}."
        )
    return Limit(quantity, float(match[1]) * NS.get(match[2], 1.0), unit, text)


def parse_words(words: Sequence[str]) -> dict[str, str]:
    """The words of `--limit`, checked, by quantity. Raises GateError."""
    return by_name(words, parse, "a quantity", _EXAMPLE)


def judge(limits: Mapping[str, str], run: Measured) -> list[Check]:
    """The greatest value of each limited quantity. Raises GateError for a limit that is none.

    Beside a real board the limit is broken where the error budget cannot explain the excess.
    """
    return [_judge(parse(quantity, text), run) for quantity, text in limits.items()]


def _judge(limit: Limit, run: Measured) -> Check:
    name = f"limit {limit.quantity}"
    summary = run.manifest.statistics.get(limit.key)
    greatest = summary.max if summary else None
    if greatest is None:
        return Check(name, "not judged", f"The run measured nothing to hold to {limit.text}.")
    told = f"{greatest:,.0f} cycles" if limit.unit == "cycles" else f"{greatest / 1e3:,.3f} us"
    budget = run.manifest.error_budget.get(limit.key)
    unsure = 0.0 if run.exact else budget.total.of(limit.unit) if budget else None
    if unsure is None:
        return Check(name, "cannot say", "The run does not tell its error budget.")
    if greatest > limit.value + unsure:
        return Check(name, "worse", f"The greatest is {told}, above {limit.text}{_where(limit, run)}.")
    if summary is not None and summary.open:
        sentence = f"The greatest is at least {told}: a wait was not over, and {limit.text} may be exceeded."
        return Check(name, "cannot say", sentence)
    if greatest > limit.value:
        return Check(name, "as good", f"The greatest is {told}, within the error budget of {limit.text}.")
    return Check(name, "as good", f"The greatest is {told}, within {limit.text}.")


def _where(limit: Limit, run: Measured) -> str:
    maximum = run.manifest.maxima.get(limit.key)
    if maximum is None or maximum.seq is None:
        return ""
    return f", in {run.told[maximum.seq]}" if maximum.seq < len(run.told) else ""
