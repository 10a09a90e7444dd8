"""The gate's outcome for a terminal, a program, a pull request and a CI server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from analysis.compare.gate.outcome import Check, Judged, Report
from analysis.compare.settings import COMPILER, short
from analysis.judged import ELEMENTS, MARKS, State
from base.files import junit
from base.files.junit import Case
from base.files.markdown_text import cell, line

SCHEMA = 1
_VERDICTS = {
    0: "As good as the baseline.",
    1: "Worse.",
    2: "Cannot say.",
}


def as_text(report: Report) -> str:
    """A paragraph for each run, and the verdict in the last line."""
    lines = [line for run in report.runs for line in (*_of_run(run), "")]
    return "\n".join([*lines, *report.notes, verdict(report)])


def verdict(report: Report) -> str:
    """One line: of how many runs how many are what."""
    states = [run.state for run in report.runs]
    counts = [(state, states.count(state)) for state in MARKS if state in states]
    told = ", ".join(f"{count:,} {state}" for state, count in counts)
    words = _VERDICTS[report.exit_status]
    if report.baseline is None and not report.exit_status:
        words = "Within the limits."
    return f"{words} Runs: {told}."


def _of_run(run: Judged) -> Iterator[str]:
    yield f"{run.name}: {run.state}"
    yield from (f"  {folder}" for folder in run.folders)
    if run.refusal:
        yield f"  {MARKS['cannot say']} {run.refusal}"
    for check in run.checks:
        yield f"  {MARKS[check.state]} {check.quantity}: {check.sentence}"
        yield from (f"      {line}" for line in _named(check))
    yield from (f"  {sentence}" for sentence in (*_changes(run), *run.notes))


def _named(check: Check) -> Iterator[str]:
    yield from check.named
    if check.named and check.changed > len(check.named):
        yield f"and {check.changed - len(check.named):,} more"


def _changes(run: Judged) -> Iterator[str]:
    """A line for each difference in sources or tools, the compiler first."""
    for one in sorted(run.changes, key=lambda change: change.name != COMPILER):
        yield f"The {one.name} changed from {short(one.a)} to {short(one.b)}."


def as_json(report: Report) -> dict[str, Any]:
    """docs/reference/baseline.md."""
    return {
        "schema": SCHEMA,
        "exit_status": report.exit_status,
        "baseline": report.baseline,
        "runs": [
            {
                "folders": list(run.folders),
                "name": run.name,
                "state": run.state,
                "refusal": run.refusal,
                "checks": [asdict(check) for check in run.checks],
                "changes": [{"setting": one.name, "before": one.a, "now": one.b} for one in run.changes],
                "notes": list(run.notes),
                "placements": [one.as_json() for one in run.placements],
            }
            for run in report.runs
        ],
        "notes": list(report.notes),
    }


def as_markdown(report: Report) -> str:
    """A table of runs and quantities, and below it what is not as good, for a pull request."""
    lines = [f"### Tailscope: {verdict(report)}", "", "| run | quantity | | what |", "|---|---|---|---|"]
    for run in report.runs:
        rows = [("run", "cannot say", run.refusal)] if run.refusal else []
        rows += [(one.quantity, one.state, one.sentence) for one in run.checks]
        lines += [f"| {cell(run.name)} | {cell(q)} | {s} | {cell(w or '')} |" for q, s, w in rows]
    for run in report.runs:
        told = [line for check in run.checks for line in _named(check)]
        told += [*_changes(run), *run.notes]
        if told:
            # A text of a run folder may hold anything: four spaces make it code, whatever it holds.
            lines += ["", f"**{cell(run.name)}**", "", *(f"    {line(one)}" for one in told)]
    lines += ["", *map(cell, report.notes)] if report.notes else []
    return "\n".join(lines) + "\n"


def as_xml(report: Report) -> bytes:
    """The file's content: a suite a run, a case a quantity."""
    return junit.as_xml("tailscope gate", [(run.name, list(_cases(run))) for run in report.runs])


def _cases(run: Judged) -> Iterator[Case]:
    if run.refusal:
        yield _case(run, "run", "cannot say", run.refusal, [])
    for check in run.checks:
        more = [f"{check.changed:,} changed in all"] if check.changed > len(check.named) else []
        yield _case(run, check.quantity, check.state, check.sentence, [*check.named, *more, *run.notes])


def _case(run: Judged, quantity: str, state: State, sentence: str, details: list[str]) -> Case:
    return Case(quantity, sentence, ELEMENTS.get(state), state, [*details, ", ".join(run.folders)])
