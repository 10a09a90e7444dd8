"""The gate's outcome for a terminal, a program, a pull request and a CI server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from analysis.compare.gate.outcome import Check, Judged, Report
from analysis.compare.settings import COMPILER, short

SCHEMA = 1
_MARKS = {"worse": "✗", "cannot say": "?", "better": "+", "as good": "✓", "not judged": "·"}
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
    counts = [(state, states.count(state)) for state in _MARKS if state in states]
    told = ", ".join(f"{count:,} {state}" for state, count in counts)
    words = _VERDICTS[report.exit_status]
    if report.baseline is None and not report.exit_status:
        words = "Within the limits."
    return f"{words} Runs: {told}."


def _of_run(run: Judged) -> Iterator[str]:
    yield f"{run.name}: {run.state}"
    yield from (f"  {folder}" for folder in run.folders)
    if run.refusal:
        yield f"  {_MARKS['cannot say']} {run.refusal}"
    for check in run.checks:
        yield f"  {_MARKS[check.state]} {check.quantity}: {check.sentence}"
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
        lines += [f"| {_cell(run.name)} | {_cell(q)} | {s} | {_cell(w or '')} |" for q, s, w in rows]
    for run in report.runs:
        told = [line for check in run.checks for line in _named(check)]
        told += [*_changes(run), *run.notes]
        if told:
            # A text of a run folder may hold anything: four spaces make it code, whatever it holds.
            lines += ["", f"**{_cell(run.name)}**", "", *(f"    {_line(one)}" for one in told)]
    lines += ["", *map(_cell, report.notes)] if report.notes else []
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    """A text in a cell of a table, none of it taken as Markdown or HTML."""
    for sign in "\\`*_|[]<>":
        text = text.replace(sign, {"<": "&lt;", ">": "&gt;"}.get(sign, f"\\{sign}"))
    return _line(text)


_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"worse": "failure", "cannot say": "error", "not judged": "skipped"}


def as_xml(report: Report) -> bytes:
    """The file's content."""
    root = ElementTree.Element("testsuites", name="tailscope gate")
    for run in report.runs:
        cases = list(_cases(run))
        suite = ElementTree.SubElement(root, "testsuite", name=_plain(run.name), tests=str(len(cases)))
        for kind, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            suite.set(counted, str(sum(case.find(kind) is not None for case in cases)))
        suite.extend(cases)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _cases(run: Judged) -> Iterator[ElementTree.Element]:
    if run.refusal:
        yield _case(run, "run", "cannot say", run.refusal, [])
    for check in run.checks:
        more = [f"{check.changed:,} changed in all"] if check.changed > len(check.named) else []
        yield _case(run, check.quantity, check.state, check.sentence, [*check.named, *more, *run.notes])


def _case(run: Judged, quantity: str, state: str, sentence: str, details: list[str]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_plain(run.name), name=_plain(quantity))
    if state in _ELEMENTS:
        found = ElementTree.SubElement(case, _ELEMENTS[state], message=_plain(sentence))
        if state != "not judged":
            found.set("type", state)
            folders = ", ".join(run.folders)
            found.text = _plain("\n".join([sentence, *details, folders]))
    else:
        ElementTree.SubElement(case, "system-out").text = _plain(sentence)
    return case


def _plain(text: str) -> str:
    return _NOT_XML.sub("?", text)
