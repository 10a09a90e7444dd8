"""A judgement for a terminal, a program, a comment on a change, a CI server, and a chart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from analysis.judged import ELEMENTS, MARKS
from analysis.program.gate.judge import Check, Judgement
from analysis.program.gate.rows import Measured, Row
from base.files import junit
from base.files.junit import Case
from base.files.markdown_text import cell
from base.microseconds import microseconds

SCHEMA = 1
_OF_LIMITS = ("within", "above", "between", "unbounded")
LONGEST_MOST = 20
"""So many rows stand in the table for a comment."""
_BENCHER_NAME_MOST = 1024
"""Characters of a benchmark's name, by Bencher's page on its metric format."""


def verdict(told: Judgement) -> str:
    """One line: the whole of it, and how many of what."""
    worse = "Above a limit." if told.only_limits_broken else "Worse than the baseline."
    if any(check.finding == "refuted" for check in told.checks):
        worse = "A run took longer than a bound."
    good = "As good as the baseline." if told.baseline else "Within the limits."
    words = {0: good if told.judges else "Not judged.", 1: worse, 2: "Cannot say."}
    findings = [check.finding for check in told.checks]
    counts = [f"{findings.count(one):,} {one}" for one in dict.fromkeys(findings)]
    return " ".join([words[told.exit_status], *([f"{', '.join(counts)}."] if counts else [])])


def as_text(told: Judgement) -> str:
    """A line a check, those that are as in the baseline counted only; the verdict in the last."""
    return "\n".join([*_lines(told), verdict(told)])


def _lines(told: Judgement) -> Iterator[str]:
    if told.refusal:
        yield f"{MARKS['cannot say']} {told.refusal}"
    for check in told.checks:
        if check.finding != "equal":
            yield f"{MARKS[check.state]} {check.name}: {check.sentence}"
            yield from (f"    {line}" for line in check.more)
    yield from told.notes


def as_json(told: Judgement) -> dict[str, Any]:
    """docs/reference/program-baseline.md."""
    return {
        "schema": SCHEMA,
        "exit_status": told.exit_status,
        "verdict": verdict(told),
        "baseline": told.baseline,
        "refusal": told.refusal or None,
        "checks": [_check(check) for check in told.checks],
        "notes": list(told.notes),
    }


def _check(check: Check) -> dict[str, Any]:
    now = check.now
    return {
        "name": check.name,
        "state": check.state,
        "finding": check.finding,
        "held_to": check.held_to or None,
        "function": now.function if now else None,
        "kind": now.kind if now else None,
        "before_cycles": check.before,
        "cycles": now.cycles if now else None,
        "ns": now.ns if now else None,
        "open": now.open if now else False,
        "why_not": now.why_not or None if now else None,
        "change_cycles": check.change,
        "place": now.place if now else None,
        "sentence": check.sentence,
        "more": list(check.more),
    }


def as_markdown(told: Judgement) -> str:
    """A table of limits and of what is not as in the baseline, and one of the longest, for a
    comment on a change.
    """
    title = f"### {cell(told.command)} of {cell(told.program)}: {verdict(told)}"
    lines = [title, "", *([cell(told.refusal), ""] if told.refusal else [])]
    shown = [check for check in told.checks if check.finding != "equal"]
    if shown:
        lines += ["| | what | held to | now | change | where |", "|---|---|---:|---:|---:|---|"]
        lines += [_row(check) for check in shown]
    unsaid = [f"{check.name}: {check.sentence}" for check in shown if check.state == "cannot say"]
    more = [f"{check.name}: {line}" for check in shown for line in check.more]
    lines += [part for line in (*unsaid, *more, *told.notes) for part in ("", cell(line))]
    lines += _longest(told.rows)
    return "\n".join(lines).rstrip() + "\n"


def _longest(rows: Sequence[Row]) -> Iterator[str]:
    """The table of the longest rows, those that hold interrupts off first."""
    if not rows:
        return
    more = f" of {len(rows):,}" if len(rows) > LONGEST_MOST else ""
    yield from ("", f"The longest{more}:", "", "| what | now | where |", "|---|---:|---|")
    for row in rows[:LONGEST_MOST]:
        yield f"| {' | '.join(map(cell, (row.name, _length(row), row.place)))} |"


def _row(check: Check) -> str:
    now = check.now
    length = _length(now) if now else "none"
    change = f"{check.change:+,}" if check.change is not None else check.finding
    if check.change is not None and check.before:
        change += f" ({check.change / int(check.before):+.1%})"
    of_limit = f"{now.name}, " if now and check.finding in _OF_LIMITS else ""
    where = f"{of_limit}{now.place}" if now else ""
    cells = (check.name, check.held_to, length, change, where)
    return f"| {MARKS[check.state]} {check.state} | {' | '.join(map(cell, cells))} |"


def _length(row: Row) -> str:
    if row.why_not:
        return "no bound"
    return f"{'≥ ' if row.open else ''}{row.cycles:,} cycles, {microseconds(row.ns)}"


def as_xml(told: Judgement) -> bytes:
    """JUnit's XML: a case a limit and a row of the baseline; without a judgement a case a row."""
    cases = [Case("run", told.refusal, "error", "cannot say")] if told.refusal else []
    cases += [
        Case(check.name, check.sentence, ELEMENTS.get(check.state), check.state, [*check.more, *told.notes])
        for check in told.checks
    ]
    if not told.judges:
        cases += [Case(row.name, f"{_length(row)}, {row.place}.") for row in told.rows]
    return junit.as_xml(f"tailscope {told.command}", [(told.program, cases)])


def as_bencher(measured: Measured) -> str:
    """Bencher's metric format: the cycles of each row that ended, and has a bound."""
    metrics = {
        _benchmark(measured, row): {"cycles": {"value": row.cycles}}
        for row in measured.rows
        if not row.open and not row.why_not
    }
    return json.dumps(metrics, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _benchmark(measured: Measured, row: Row) -> str:
    return f"{measured.program} {row.function} {row.kind}"[:_BENCHER_NAME_MOST]
