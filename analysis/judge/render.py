"""A report for a terminal, a program, a comment on a change, a CI server, and a chart.

The document:

    schema 2, command, exit_status, verdict, baseline, notes[]
    subjects [{name, state, refusal, folders[], notes[],
               checks [{name, state, sentence, named[], finding, held_to, before,
                        now {function, kind, cycles, ns, place, open, step_cycles, why_not,
                             named_only, unit, budget}}],
               changes [{name, a, b}]}]

A subject is a run, runs of equal settings, or a program. *state* is `as good`, `better`, `worse`,
`cannot say` or `not judged`, which is no failure. *refusal* is the sentence why it cannot be said;
empty if it can. A check of a run is `outcomes`, `probes`, `cycles`, `section`, `interrupt`, `task`,
`control` or `limit KIND`; of a real board `allocate, cycles`, `section, pulses` and so on. *named*
has the first ten operations, or rows above a limit. *held_to* is the limit as given, *before* what
the baseline has, and *now* the row, or null. *open* says that *cycles* is the least; so does
*why_not*. *changes* are those of *made_by*, from *a* to *b*. With `--update` the document is
`{updated, notes[]}`.

| finding | state | when |
|---|---|---|
| `within`, `above` | as good, worse | a limit that holds, or is broken |
| `between` | cannot say | a limit that may be broken between two pends |
| `unseen` | cannot say | a limit of which nothing was seen; not judged with `--allow vanished` |
| `unbounded` | cannot say | of `bounds`: a limit that something without a bound falls under; of a
run: a wait that was not over, or an error budget that the run does not have |
| `equal` | as good | as many cycles as before |
| `longer` | worse | as good where `--allow` has it, or by less than the cycles between two pends |
| `shorter` | better | also what ends now, or has a bound, and did not before |
| `new` | worse | as good if it is no longer than `--allow` CYCLES; a share of nothing is nothing |
| `lost` | worse | of `bounds`: it had a bound, and has none now |
| `refuted` | worse | of `bounds`: a run took longer than its bound |
| `vanished` | cannot say | nothing of it was seen: it is gone, or the run did not come there; not
judged with `--allow vanished` |
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Literal

from analysis.compare.settings import COMPILER, cut
from analysis.judge.rows import MARKS, Judgement, Report, State, Subject
from base.files.formats import Case, cell, line
from base.files.formats import as_xml as xml_of

SCHEMA = 2
LONGEST_MOST = 20
"""So many rows stand in the table for a comment."""
_BENCHER_NAME_MOST = 1024
"""Characters of a benchmark's name, by Bencher's page on its metric format."""
_ELEMENTS: Mapping[State, Literal["failure", "error", "skipped"]] = {
    "worse": "failure",
    "cannot say": "error",
    "not judged": "skipped",
}
"""Of JUnit's XML; what is good is none."""


def as_text(report: Report) -> str:
    """A paragraph for each subject, a line a check, those that are as in the baseline counted only;
    the verdict in the last line.
    """
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    for subject in report.subjects:
        indent = "  " if subject.folders else ""
        if subject.folders:
            yield f"{subject.name}: {subject.state}"
        yield from (f"{indent}{folder}" for folder in subject.folders)
        if subject.refusal:
            yield f"{indent}{MARKS['cannot say']} {subject.refusal}"
        for check in subject.checks:
            if check.finding != "equal":
                yield f"{indent}{MARKS[check.state]} {check.name}: {check.sentence}"
                yield from (f"{indent}    {more}" for more in check.more)
        yield from (f"{indent}{sentence}" for sentence in _remarks(subject))
        if subject.folders:
            yield ""
    yield from report.notes
    yield report.verdict


def _remarks(subject: Judgement) -> Iterator[str]:
    """A line for each difference in sources or tools, the compiler first, and the notes."""
    for change in sorted(subject.changes, key=lambda change: change.name != COMPILER):
        yield f"The {change.name} changed from {cut(change.a)} to {cut(change.b)}."
    yield from subject.notes


def as_json(report: Report) -> dict[str, Any]:
    """The document."""
    return {
        "schema": SCHEMA,
        "command": report.command,
        "exit_status": report.exit_status,
        "verdict": report.verdict,
        "baseline": report.baseline,
        "subjects": [
            {
                "name": subject.name,
                "state": subject.state,
                "refusal": subject.refusal,
                "folders": subject.folders,
                "checks": [{**asdict(check), "named": check.more} for check in subject.checks],
                "changes": [asdict(change) for change in subject.changes],
                "notes": subject.notes,
            }
            for subject in report.subjects
        ],
        "notes": report.notes,
    }


def as_markdown(report: Report) -> str:
    """A table of what is not as in the baseline for each subject, and one of a program's longest
    rows, for a comment on a change.
    """
    several = len(report.subjects) != 1
    of = f"{len(report.subjects):,} runs" if several else report.subjects[0].name
    lines = [f"### {cell(report.command)} of {cell(of)}: {cell(report.verdict)}"]
    for subject in report.subjects:
        lines += _table(subject, several)
    lines += [part for note in report.notes for part in ("", cell(note))]
    return "\n".join(lines) + "\n"


def _table(subject: Judgement, titled: bool) -> Iterator[str]:
    if titled:
        yield from ("", f"**{cell(subject.name)}**: {subject.state}")
    if subject.refusal:
        yield from ("", cell(subject.refusal))
    checks = [check for check in subject.checks if check.finding != "equal"]
    if checks:
        yield from ("", "| | what | |", "|---|---|---|")
    for check in checks:
        yield f"| {MARKS[check.state]} {check.state} | {cell(check.name)} | {cell(check.sentence)} |"
    details = [f"{check.name}: {more}" for check in checks for more in check.more]
    details += _remarks(subject)
    if details:
        # A text of a run folder may hold anything: four spaces make it code, whatever it holds.
        yield from ("", *(f"    {line(detail)}" for detail in details))
    rows = subject.rows
    if rows:
        more = f" of {len(rows):,}" if len(rows) > LONGEST_MOST else ""
        yield from ("", f"The longest{more}:", "", "| what | now | where |", "|---|---:|---|")
    for row in rows[:LONGEST_MOST]:
        length = "no bound" if row.why_not else row.length
        yield f"| {' | '.join(map(cell, (row.name, length, row.place)))} |"


def as_xml(report: Report) -> bytes:
    """JUnit's XML: a suite a subject, a case a check; without a judgement a case a row."""
    suites = [(subject.name, list(_cases(subject, report.judges))) for subject in report.subjects]
    return xml_of(f"tailscope {report.command}", suites)


def _cases(subject: Judgement, judges: bool) -> Iterator[Case]:
    details = [*_remarks(subject), *subject.folders]
    if subject.refusal:
        yield Case("run", subject.refusal, "error", "cannot say", subject.folders)
    for check in subject.checks:
        element = _ELEMENTS.get(check.state)
        yield Case(check.name, check.sentence, element, check.state, [*check.more, *details])
    for row in () if judges else subject.rows:
        element = "error" if row.why_not else None
        yield Case(row.name, " ".join(filter(None, (f"{row.length}, {row.place}.", row.why_not))), element)


def as_bencher(subject: Subject) -> str:
    """Bencher's metric format: the cycles of each row that ended, and has a bound."""
    metrics = {
        f"{subject.name} {row.function} {row.kind}"[:_BENCHER_NAME_MOST]: {"cycles": {"value": row.cycles}}
        for row in subject.rows
        if not row.open and not row.why_not
    }
    return json.dumps(metrics, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
