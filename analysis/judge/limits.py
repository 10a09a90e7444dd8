"""The words of `--limit` and `--allow`, and what a limit says of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.errors import GateError
from analysis.judge.rows import Check, Row, State, Unit, Words
from base.files.errors import near_miss
from simulator.interrupts import priority_of

ANY = "any"
"""Of all that holds interrupts off, each by itself."""
_APART = ("priority", "scheduler")
"""Kinds that are made of several sections, or hold no interrupt off."""
_LEVELS = ("priority", "basepri")
_LEVEL = re.compile(r"0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3}")
_NS: Mapping[str, float] = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_BYTES = 1 << 8
"""A priority is a byte."""
_VALUE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(cycles|ns|us|µs|ms|s)?")
_AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%| ?cycles)?")


@dataclass(frozen=True)
class Allowance:
    """What `--allow` accepts: more cycles than the baseline, rows that vanished, and a program that
    ends polling. `text` is the amount as it was given; empty where no more cycles are allowed.
    """

    text: str = ""
    amount: float = 0.0
    is_percent: bool = False
    vanished: bool = False
    polling: bool = False

    def of(self, before: int) -> float:
        """So many cycles longer than `before` is allowed; of what is new, `before` is 0."""
        return before * self.amount / 100 if self.is_percent else self.amount

    @property
    def absent(self) -> State:
        """The state of what was not seen."""
        return "not judged" if self.vanished else "cannot say"


def parse_allowance(text: str) -> Allowance | None:
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
        else:
            amount, is_percent = float(match[1]), match[2] == "%"
            allowance = replace(allowance, text=word, amount=amount, is_percent=is_percent)
    return allowance


@dataclass(frozen=True)
class Limit:
    """Nothing of `kind`, in `function` if that is not empty, may be longer than `value`; `text` is
    the limit as it was given.
    """

    name: str
    kind: str
    function: str
    value: float
    unit: Unit
    text: str

    def holds_for(self, row: Row) -> bool:
        """Whether the limit is one of this row."""
        first = row.kind.partition(" ")[0]
        of_kind = self.kind == first or (self.kind == ANY and first not in _APART)
        named = self.kind == row.kind or (of_kind and not row.named_only)
        return named and self.function in ("", row.function) and row.unit in (None, self.unit)

    def length(self, row: Row) -> float:
        """The row's length in the limit's unit."""
        return row.ns if self.unit == "ns" else row.cycles

    def broken_by(self, row: Row, unseen_cycles: int = 0) -> bool:
        """Whether the row, so much longer, is above the limit by more than the instruments err."""
        unseen = unseen_cycles * (row.ns / row.cycles if self.unit == "ns" and row.cycles else 1)
        return row.budget is not None and self.length(row) + unseen > self.value + row.budget


def read_words(words: Sequence[str], kinds: Sequence[str]) -> dict[str, str]:
    """The words of `--limit` by what they limit; the limit as it was given. Raises GateError."""
    limits: dict[str, str] = {}
    for word in words:
        name, separator, text = word.rpartition("=")
        if not separator or not name:
            raise GateError(f"--limit {word}: give a kind and its limit, such as {kinds[0]}=1200.")
        if limits.setdefault(name, text) != text:
            raise GateError(f"--limit {name} is given twice, as {limits[name]} and as {text}.")
    return limits


def parse(
    limits: Mapping[str, str], kinds: Sequence[str], bits: int = 4, timed: Sequence[str] = ()
) -> list[Limit]:
    """Each limit of these words, of two that limit the same the last, whatever the spelling.

    `kinds` are what may be limited, `timed` those of them that have no cycles. The priorities of
    the chip have so many `bits`. Raises GateError.
    """
    parsed: dict[tuple[str, str], Limit] = {}
    for name, text in limits.items():
        match = _VALUE.fullmatch(text)
        if match is None:
            raise GateError(
                f"{text!r} is no limit of {name}: give a number of cycles, or a time such as 2us."
            )
        kind, function = _kind(name, kinds)
        first, _, level = kind.partition(" ")
        if first in _LEVELS and level:
            # `0x50` of `5` and `80`; a level that there is not would hold nothing.
            hexadecimal = level[:2].lower() == "0x"
            byte = int(level, 16 if hexadecimal else 10) if _LEVEL.fullmatch(level) else _BYTES
            if byte >= _BYTES:
                raise GateError(
                    f"--limit {name}: {level} is no priority; give a number of the NVIC "
                    "such as 5, or a byte such as 0x50."
                )
            kind = f"{first} {priority_of(byte, bits):#04x}"
        unit: Unit = "ns" if match[2] in _NS else "cycles"
        if unit == "cycles" and kind in timed:
            raise GateError(
                f"A limit of {kind} is a time, since it is read off the wire: such as {kind}=10us."
            )
        value = float(match[1]) * _NS.get(match[2], 1.0)
        parsed[kind, function] = Limit(name, kind, function, value, unit, text)
    return [*parsed.values()]


def _kind(name: str, kinds: Sequence[str]) -> tuple[str, str]:
    """Kind and function of `handler:on_tim2`; a section's own name may have a colon."""
    by_folded = {kind.casefold(): kind for kind in kinds}
    if whole := by_folded.get(name.casefold()):
        return whole, ""
    word, _, function = name.partition(":")
    kind = by_folded.get(word.casefold())
    if kind or word.partition(" ")[0] in by_folded:
        return kind or word, function
    near = near_miss(word, kinds)
    raise GateError(f"--limit {name}: there is no such kind; give one of {', '.join(kinds)}.{near}")


def hold(limit: Limit, rows: Sequence[Row], words: Words, allowance: Allowance) -> Check:
    """The finding on these rows: the limit is broken, may be broken, or holds. The check names the
    rows of which its sentence is, and has the first.
    """
    name, held = f"limit {limit.name}", sorted(filter(limit.holds_for, rows), key=limit.length, reverse=True)
    if not held:
        sentence = f"Nothing of {limit.name} {words.none}."
        return Check(name, allowance.absent, sentence, finding="unseen", held_to=limit.text)
    above = [row for row in held if limit.broken_by(row)]
    unknown = [row for row in held if row.why_not]
    first, *others = above or unknown or held[:1]
    state: State = "cannot say"
    if above:
        state, finding = "worse", "above"
        sentence = f"{words.longest.format(first.length)}, above {limit.text}: {first.named}."
    elif unknown:
        finding = "unbounded"
        sentence = f"Nobody can say: {first.named}, takes {first.length}. {first.why_not}"
    elif any(limit.broken_by(row, row.step_cycles - 1) for row in held):
        finding = "between"
        sentence = f"Between two pends, {first.step_cycles:,} cycles apart, it may be above: give --every 1."
    else:
        state, finding = "as good", "within"
        within = "within" if limit.length(first) <= limit.value else "within the error budget of"
        sentence = f"{words.longest.format(first.length)}, {within} {limit.text}: {first.named}."
    named = tuple(f"{row.name}, {row.length}, {row.place}" for row in others)
    return Check(name, state, sentence, named, finding, limit.text, None, first)
