"""A program, held to limits and to a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.compare.settings import Change, differing
from analysis.errors import GateError
from analysis.judge import lengths
from analysis.judge.baseline import Baseline, Entry
from analysis.judge.checks import Check, Cycles, Judgement, Report
from analysis.judge.limits import Allowance, Limit, hold
from analysis.judge.rows import Subject


def judge(
    subject: Subject, limits: Sequence[Limit], baseline: Baseline | None, allowance: Allowance
) -> Report:
    """Holds what was measured to the limits, and to the baseline if there is one.

    Of a run that is not whole, only what is worse is told: nobody knows the rest of it. Of what
    vanished it cannot be said that it is good, unless that is allowed: it may be behind a hang.
    """
    rows = (*subject.rows, *subject.together)
    checks = _refuted(subject)
    checks += [hold(limit, rows, subject.words, allowance) for limit in limits]
    refusal = why_refused(subject, allowance)
    compared: list[Check] = []
    changes: tuple[Change, ...] = ()
    if baseline is not None:
        try:
            entry = baseline.entry_of(subject.settings, subject.name)
        except GateError as error:
            refusal = refusal or str(error)
        else:
            compared = list(lengths.compare(entry.functions, subject, allowance))
            changes = differing(entry.made_by, subject.made_by)
    if refusal:
        compared = [check for check in compared if check.state == "worse"]
    differs = any(check.finding != "equal" for check in compared)
    judgement = Judgement(
        subject.name,
        (*checks, *compared),
        refusal,
        changes=changes if differs else (),
        notes=tuple(_notes(compared, refusal)),
        rows=subject.rows,
    )
    return Report(subject.command, None if baseline is None else str(baseline.path), (judgement,))


def unjudged(subject: Subject) -> Report:
    """What was measured where nothing is to be held to anything."""
    refusal = subject.refusal or subject.polls
    checks = tuple(_refuted(subject))
    return Report(subject.command, None, (Judgement(subject.name, checks, refusal, rows=subject.rows),))


def _refuted(subject: Subject) -> list[Check]:
    return [Check(name, "worse", sentence, finding="refuted") for name, sentence in subject.wrong]


def why_refused(subject: Subject, allowance: Allowance) -> str:
    """The sentence why this is not all that the program does; empty if it is, or is accepted."""
    return subject.refusal or ("" if allowance.polling else subject.polls)


def entry(subject: Subject) -> Entry:
    """What was measured, for a baseline; functions and kinds in the order of their names."""
    functions: dict[str, dict[str, Cycles]] = {}
    for row in sorted(subject.rows, key=lambda row: (row.function, row.kind)):
        functions.setdefault(row.function, {})[row.kind] = lengths.length_of(row)
    settings = {name: value for name, value in subject.settings.items() if value}
    return Entry(settings=settings, made_by=dict(subject.made_by), functions=functions)


def _notes(compared: Sequence[Check], refusal: str) -> Iterator[str]:
    if any(check.finding == "vanished" and check.state == "cannot say" for check in compared):
        yield "To accept what vanished, give --allow vanished, or make this the baseline with --update."
        return
    accepted = all(check.state in ("as good", "better", "not judged") for check in compared)
    if accepted and not refusal and any(check.finding != "equal" for check in compared):
        yield "To make this the baseline, give --update."
