"""The rows of a program beside those of its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.judge.checks import Check, Cycles, State
from analysis.judge.limits import Allowance
from analysis.judge.rows import Row, Subject


def length_of(row: Row) -> Cycles:
    """What a baseline has of the row."""
    return "none" if row.why_not else "open" if row.open else row.cycles


def compare(
    functions: Mapping[str, Mapping[str, Cycles]], subject: Subject, allowance: Allowance
) -> Iterator[Check]:
    """A check for each row that was measured, and for each of the baseline that vanished."""
    lengths = {
        (function, kind): before for function, kinds in functions.items() for kind, before in kinds.items()
    }
    for row in subject.rows:
        yield _check(row, lengths.pop((row.function, row.kind), None), allowance)
    words = {"open": "It had not ended in the baseline", "none": "It had no bound in the baseline"}
    for (function, kind), before in lengths.items():
        was = subject.words.before.format(before) if isinstance(before, int) else words[before]
        sentence = f"{was}, and {subject.words.gone}."
        yield Check(f"{function}: {kind}", allowance.absent, sentence, finding="vanished", before=before)


def _check(row: Row, before: Cycles | None, allowance: Allowance) -> Check:
    state, finding, sentence = _beside(row, before, allowance)
    return Check(row.name, state, sentence, finding=finding, before=before, now=row)


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
    excuse = _excuse(row, more, before, allowance)
    return "as good" if excuse else "worse", "longer", f"{change}{excuse}, {place}."


def _excuse(row: Row, more: int, before: int, allowance: Allowance) -> str:
    """Why so many cycles more are none that count; empty if they do."""
    if more < row.step_cycles:
        return f", less than the {row.step_cycles:,} cycles between two pends"
    return f", allowed by {allowance.text}" if more <= allowance.of(before) and not row.open else ""
