"""What was measured, held to limits and to a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.judged import State, exit_status
from analysis.program.gate.allowance import Allowance
from analysis.program.gate.baseline import NONE, OPEN, Baseline, Cycles
from analysis.program.gate.limits import Limit
from analysis.program.gate.rows import Measured, Row, Words
from base.microseconds import microseconds

_OfLimit = Literal["within", "above", "between", "unseen", "unbounded"]
_OfRow = Literal["equal", "longer", "shorter", "new", "vanished", "lost", "refuted"]
Finding = Literal[_OfLimit, _OfRow]
NAMED = 10
"""So many more that are above a limit are named."""


@dataclass(frozen=True)
class Check:
    """A limit, or a row of the baseline. `held_to` is the limit as given, or the cycles before.

    `now` is None where nothing of it was seen. `more` names what else is above the limit.
    """

    name: str
    state: State
    finding: Finding
    sentence: str
    held_to: str = ""
    before: Cycles | None = None
    now: Row | None = None
    more: tuple[str, ...] = ()

    @property
    def change(self) -> int | None:
        """Cycles more than before; None where one of both is not known."""
        if self.now is None or self.now.why_not or not isinstance(self.before, int):
            return None
        return self.now.cycles - self.before


@dataclass(frozen=True)
class Judgement:
    """All checks. `refusal` is the sentence why it cannot be said; empty if it can. `rows` are all
    that was measured.
    """

    command: str
    program: str
    baseline: str | None
    checks: tuple[Check, ...]
    refusal: str = ""
    notes: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def exit_status(self) -> int:
        refused: list[State] = ["cannot say"] if self.refusal else []
        return exit_status([*refused, *(check.state for check in self.checks)])

    @property
    def judges(self) -> bool:
        """Whether anything was held to something."""
        return bool(self.checks) or self.baseline is not None

    @property
    def only_limits_broken(self) -> bool:
        """Whether all that is worse is above a limit."""
        return all(check.finding == "above" for check in self.checks if check.state == "worse")


def judge(
    measured: Measured,
    limits: Sequence[Limit],
    baseline: Baseline | None,
    allowance: Allowance,
    made_by: str = "",
) -> Judgement:
    """Holds what was measured to the limits, and to the baseline if there is one.

    Of a run that is not whole, only what is worse is told: nobody knows the rest of it. Of what
    vanished it cannot be said that it is good, unless that is allowed: it may be behind a hang.
    """
    rows = (*measured.rows, *measured.together)
    within = [Check(name, "worse", "refuted", sentence) for name, sentence in measured.wrong]
    within += [_limit(limit, rows, measured.words, allowance) for limit in limits]
    refusal = why_refused(measured, allowance)
    compared: list[Check] = []
    if baseline is not None and (apart := _apart(baseline, measured)):
        refusal = refusal or apart
    elif baseline is not None:
        compared = list(_compared(baseline, measured, allowance))
        if refusal:
            compared = [check for check in compared if check.state == "worse"]
    path = None if baseline is None else str(baseline.path)
    notes = tuple(_notes(baseline, measured, compared, made_by))
    checks = (*within, *compared)
    return Judgement(measured.command, measured.program, path, checks, refusal, notes, measured.rows)


def unjudged(measured: Measured) -> Judgement:
    """What was measured where nothing is to be held to anything."""
    return Judgement(
        measured.command, measured.program, None, (), measured.refusal or measured.polls, (), measured.rows
    )


def why_refused(measured: Measured, allowance: Allowance) -> str:
    """The sentence why this is not all that the program does; empty if it is, or is accepted."""
    return measured.refusal or ("" if allowance.polling else measured.polls)


def _limit(limit: Limit, rows: Sequence[Row], words: Words, allowance: Allowance) -> Check:
    name = f"limit {limit.name}"
    held = sorted((row for row in rows if limit.holds_for(row)), key=lambda row: -limit.length(row))
    if not held:
        sentence = f"Nothing of {limit.name} {words.none}."
        return Check(name, _absent(allowance), "unseen", sentence, limit.text)
    first = held[0]
    above = [row for row in held if limit.length(row) > limit.value]
    side = "above" if above else "within"
    told = f"{words.longest.format(_length(first))}, {side} {limit.text}: {first.name}, {first.place}."
    unknown = [row for row in held if row.why_not]
    if not above and unknown:
        return _unbounded(name, limit, unknown)
    if not above and any(limit.most(row) > limit.value for row in held):
        told += f" Between two pends, {first.step_cycles:,} cycles apart, it may be above: give --every 1."
        return Check(name, "cannot say", "between", told, limit.text, None, first)
    more = tuple(f"{row.name}, {_length(row)}, {row.place}" for row in above[1 : 1 + NAMED])
    left = len(above) - 1 - NAMED
    more += (f"and {left:,} more",) if left > 0 else ()
    state: State = "worse" if above else "as good"
    return Check(name, state, "above" if above else "within", told, limit.text, None, first, more)


def _absent(allowance: Allowance) -> State:
    return "not judged" if allowance.vanished else "cannot say"


def _unbounded(name: str, limit: Limit, rows: Sequence[Row]) -> Check:
    """No row with a known bound exceeds the limit; the bounds of `rows` are unknown."""
    first = rows[0]
    told = f"Nobody can say: {first.name} has no bound, {first.place}. {first.why_not}"
    more = tuple(f"{row.name} has no bound, {row.place}" for row in rows[1 : 1 + NAMED])
    left = len(rows) - 1 - NAMED
    more += (f"and {left:,} more",) if left > 0 else ()
    return Check(name, "cannot say", "unbounded", told, limit.text, None, first, more)


def _length(row: Row) -> str:
    """`1,001 cycles (62.56 µs)`."""
    return f"{'at least ' if row.open or row.why_not else ''}{row.cycles:,} cycles ({microseconds(row.ns)})"


def _apart(baseline: Baseline, measured: Measured) -> str:
    """The sentence why they cannot be compared; empty if they can."""
    names = [*baseline.settings, *(name for name in measured.settings if name not in baseline.settings)]
    apart = [
        f"{name} {baseline.settings.get(name) or 'none'} → {measured.settings.get(name) or 'none'}"
        for name in names
        if baseline.settings.get(name, "") != measured.settings.get(name, "")
    ]
    if not apart:
        return ""
    return (
        f"{baseline.path} was made with other settings ({', '.join(apart)}): run with those of the baseline, "
        "or make it anew with --update."
    )


def _compared(baseline: Baseline, measured: Measured, allowance: Allowance) -> Iterator[Check]:
    seen = {(row.function, row.kind) for row in measured.rows}
    for row in measured.rows:
        before = baseline.lengths.get((row.function, row.kind))
        yield _new(row, allowance) if before is None else _held(row, before, allowance)
    for (function, kind), before in baseline.lengths.items():
        if (function, kind) not in seen:
            was = _was(before, measured.words)
            sentence = f"{was}, and {measured.words.gone}."
            name = f"{function}: {kind}"
            yield Check(name, _absent(allowance), "vanished", sentence, _told(before), before)


def _was(before: Cycles, words: Words) -> str:
    if isinstance(before, int):
        return words.before.format(before)
    return "It had not ended in the baseline" if before == OPEN else "It had no bound in the baseline"


def _new(row: Row, allowance: Allowance) -> Check:
    if row.why_not:
        sentence = f"New, and without a bound, {row.place}. {row.why_not}"
        return Check(row.name, "worse", "new", sentence, "", None, row)
    allowed = not row.open and row.cycles <= allowance.of(0)
    words = f", allowed by {allowance.text}" if allowed else ""
    sentence = f"New: {_length(row)}{words}, {row.place}."
    return Check(row.name, "as good" if allowed else "worse", "new", sentence, "", None, row)


def _held(row: Row, before: Cycles, allowance: Allowance) -> Check:
    held_to = _told(before)
    if row.why_not or before == NONE:
        return _bounded(row, before)
    if not isinstance(before, int):
        words = "It has not ended, as in the baseline." if row.open else f"It ends now: {_length(row)}."
        state: State = "as good" if row.open else "better"
        return Check(row.name, state, "equal" if row.open else "shorter", words, held_to, before, row)
    more = row.cycles - before
    if more == 0 or (row.open and more < 0):
        sentence = f"{_length(row)}, as in the baseline." if not more else "It had not ended at the end."
        return Check(row.name, "as good", "equal", sentence, held_to, before, row)
    told = f"{held_to} → {_length(row)}, {_change(more, before)}"
    if more < 0:
        return Check(row.name, "better", "shorter", f"{told}, {row.place}.", held_to, before, row)
    excuse = _excuse(row, more, before, allowance)
    worse: State = "as good" if excuse else "worse"
    return Check(row.name, worse, "longer", f"{told}{excuse}, {row.place}.", held_to, before, row)


def _bounded(row: Row, before: Cycles) -> Check:
    """What has no bound, or had none."""
    held_to = _told(before)
    if not row.why_not:
        words = f"It has a bound now: {_length(row)}, {row.place}."
        return Check(row.name, "better", "shorter", words, held_to, before, row)
    if before == NONE:
        return Check(
            row.name, "as good", "equal", "It has no bound, as in the baseline.", held_to, before, row
        )
    words = f"It had a bound of {held_to} cycles, and has none now, {row.place}. {row.why_not}"
    return Check(row.name, "worse", "lost", words, held_to, before, row)


def _excuse(row: Row, more: int, before: int, allowance: Allowance) -> str:
    """Why so many cycles more are none that count; empty if they do."""
    if more < row.step_cycles:
        return f", less than the {row.step_cycles:,} cycles between two pends"
    return f", allowed by {allowance.text}" if more <= allowance.of(before) and not row.open else ""


def _change(more: int, before: int) -> str:
    """`+200, +20.0 %`."""
    share = f", {more / before:+.1%}".replace("%", " %") if before else ""
    return f"{more:+,}{share}"


def _told(cycles: Cycles) -> str:
    return f"{cycles:,}" if isinstance(cycles, int) else cycles


def _notes(
    baseline: Baseline | None, measured: Measured, compared: Sequence[Check], made_by: str
) -> Iterator[str]:
    if baseline is None:
        return
    differs = [check for check in compared if check.finding not in ("equal", "within")]
    if differs and baseline.made_by != made_by:
        yield f"The baseline was made by {baseline.made_by}, this by {made_by}: cycles may differ by that."
    states = {check.state for check in compared}
    if any(check.finding == "vanished" and check.state == "cannot say" for check in compared):
        yield "To accept what vanished, give --allow vanished, or make this the baseline with --update."
    elif differs and not measured.refusal and states <= {"as good", "better", "not judged"}:
        yield "To make this the baseline, give --update."
