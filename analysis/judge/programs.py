"""A program, held to limits and to a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.compare.settings import Change, differing
from analysis.errors import GateError
from analysis.judge.limits import Allowance, Limit, hold
from analysis.judge.rows import Check, Cycles, Judgement, Report, Row, State, Subject

if TYPE_CHECKING:
    from analysis.judge.baseline import Baseline, Entry


_UPDATE = "make this the baseline with --update."


def compare(
    functions: Mapping[str, Mapping[str, Cycles]], subject: Subject, allowance: Allowance
) -> Iterator[Check]:
    """A check for each row that was measured, and for each of the baseline that vanished."""
    lengths = {
        (function, kind): before for function, kinds in functions.items() for kind, before in kinds.items()
    }
    for row in subject.rows:
        before = lengths.pop((row.function, row.kind), None)
        state, finding, sentence = _beside(row, before, allowance)
        yield Check(row.name, state, sentence, finding=finding, before=before, now=row)
    words = {"open": "It had not ended in the baseline", "none": "It had no bound in the baseline"}
    for (function, kind), length in lengths.items():
        was = subject.words.before.format(length) if isinstance(length, int) else words[length]
        sentence = f"{was}, and {subject.words.gone}."
        yield Check(f"{function}: {kind}", allowance.absent, sentence, finding="vanished", before=length)


def _beside(row: Row, before: Cycles | None, allowance: Allowance) -> tuple[State, str, str]:
    """State, finding and sentence of a row. An open row lasts at least so long."""
    length, place = row.length, row.place
    if row.why_not:
        if before is None:
            return "worse", "new", f"New, and without a bound, {place}. {row.why_not}"
        if before == "none":
            return "as good", "equal", "It has no bound, as in the baseline."
        was = f"{before:,}" if isinstance(before, int) else before
        sentence = f"It had a bound of {was} cycles, and has none now, {place}. {row.why_not}"
        return "worse", "lost", sentence
    if before is None:
        allowed = not row.open and row.cycles <= allowance.of(0)
        words = f", allowed by {allowance.text}" if allowed else ""
        return "as good" if allowed else "worse", "new", f"New: {length}{words}, {place}."
    if before == "none":
        return "better", "shorter", f"It has a bound now: {length}, {place}."
    if before == "open":
        if row.open:
            return "as good", "equal", "It has not ended, as in the baseline."
        return "better", "shorter", f"It ends now: {length}."
    more = row.cycles - before
    if not more:
        return "as good", "equal", f"{length}, as in the baseline."
    if row.open and more < 0:
        return "as good", "equal", "It had not ended at the end."
    share = f", {more / before:+.1%}".replace("%", " %") if before else ""
    change = f"{before:,} → {length}, {more:+,}{share}"
    if more < 0:
        return "better", "shorter", f"{change}, {place}."
    excuse = ""
    if more < row.step_cycles:
        excuse = f", less than the {row.step_cycles:,} cycles between two pends"
    elif more <= allowance.of(before) and not row.open:
        excuse = f", allowed by {allowance.text}"
    return "as good" if excuse else "worse", "longer", f"{change}{excuse}, {place}."


def judge(
    subject: Subject, limits: Sequence[Limit], baseline: Baseline | None, allowance: Allowance
) -> Report:
    """Holds what was measured to the limits, and to the baseline if there is one; to nothing where
    there is neither.

    Of a run that is not whole, only what is worse is told: nobody knows the rest of it. Of what
    vanished it cannot be said that it is good, unless that is allowed: it may be behind a hang.
    """
    rows = (*subject.rows, *subject.together)
    checks = [Check(name, "worse", sentence, finding="refuted") for name, sentence in subject.wrong]
    checks += [hold(limit, rows, subject.words, allowance) for limit in limits]
    refusal = why_refused(subject, allowance)
    compared: list[Check] = []
    changes: tuple[Change, ...] = ()
    if baseline is not None:
        try:
            entry = baseline.entry_of(subject.settings, subject.name)
            compared = list(compare(entry.functions, subject, allowance))
            changes = differing(entry.made_by, subject.made_by)
        except GateError as error:
            refusal = refusal or str(error)
    if refusal:
        compared = [check for check in compared if check.state == "worse"]
    judged = (*checks, *compared)
    if judged and all(check.state == "not judged" for check in judged):
        refusal = refusal or "Nothing that is to be judged was seen."
    differs = any(check.finding != "equal" for check in compared)
    states = {check.state for check in compared}
    notes: tuple[str, ...] = ()
    if "cannot say" in states:  # of what vanished
        notes = (f"To accept what vanished, give --allow vanished, or {_UPDATE}",)
    elif differs and not refusal and "worse" not in states:
        notes = (f"To accept it, {_UPDATE}",)
    judgement = Judgement(
        subject.name,
        judged,
        refusal,
        changes=changes if differs else (),
        notes=notes,
        rows=subject.rows,
    )
    return Report(subject.command, str(baseline.path) if baseline else None, (judgement,))


def why_refused(subject: Subject, allowance: Allowance) -> str:
    """The sentence why this is not all that the program does; empty if it is, or is accepted."""
    return subject.refusal or ("" if allowance.polling else subject.polls)


def entry(subject: Subject) -> Entry:
    """What was measured, for a baseline; functions and kinds in the order of their names."""
    from analysis.judge.baseline import Entry  # takes a while

    functions: dict[str, dict[str, Cycles]] = {}
    for row in sorted(subject.rows, key=lambda row: (row.function, row.kind)):
        length: Cycles = "none" if row.why_not else "open" if row.open else row.cycles
        functions.setdefault(row.function, {})[row.kind] = length
    settings = {name: value for name, value in subject.settings.items() if value}
    return Entry(settings=settings, made_by=dict(subject.made_by), functions=functions)
