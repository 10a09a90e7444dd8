"""A campaign in words: the table by kind, and one outcome in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from rich.console import Console
from rich.table import Table
from rich.text import Text

from quality.faults.campaign import FATES, Outcome, Report

WIDTH_COLUMNS = 100
_BAD = "bold red"
_PASSED = "\ncomplete, with a headline changed by more than its budget:"
_CRASHED = "\nthe judge failed:"
_SHOWN_OF_A_KIND, _CHANGES_SHOWN = 2, 3


def as_text(found: Report | Outcome) -> str:
    """A campaign as its table by kind, with what passed and what
    crashed; or one outcome in full.
    """
    if isinstance(found, Outcome):
        return _in_full(found)
    console = Console(width=WIDTH_COLUMNS, highlight=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(_table(found))
        for heading, lines in ((_PASSED, [*_passed(found)]), (_CRASHED, [*_crashed(found)])):
            if lines:
                console.print(Text(heading, style=_BAD), *lines, sep="\n")
    return captured.get().rstrip()


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("kind", no_wrap=True)
    for heading in ("planted", *FATES):
        table.add_column(heading.replace("_", " "), justify="right")
    for kind, counts in report.by_kind.items():
        table.add_row(*_row(kind, counts))
    table.add_section()
    table.add_row(*_row("total", report.total))
    return table


def _row(kind: str, counts: dict[str, int]) -> Iterator[Text]:
    bad = counts["undetected_changed"] + counts["crashed"]
    yield Text(kind, style=_BAD if bad else "")
    yield from (Text(f"{count:,}" if count else "·") for count in counts.values())


def _passed(report: Report) -> Iterator[Text]:
    for outcome in _some_of_each_kind(report.of("undetected_changed")):
        shown, more = outcome.changes[:_CHANGES_SHOWN], outcome.changes[_CHANGES_SHOWN:]
        yield from _told(outcome, [*map(str, shown), *([f"and {len(more)} more"] if more else [])])


def _crashed(report: Report) -> Iterator[Text]:
    for outcome in _some_of_each_kind(report.of("crashed")):
        yield from _told(outcome, (outcome.error or "").strip().splitlines()[-1:])


def _told(outcome: Outcome, lines: Iterable[str]) -> Iterator[Text]:
    yield Text(f"{outcome.fault}  {outcome.run}: {outcome.planted}")
    yield from (Text(f"    {line}") for line in lines)


def _some_of_each_kind(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """The first outcomes of each kind: --json has all."""
    for _, of_kind in groupby(outcomes, key=lambda outcome: outcome.fault.kind):
        yield from islice(of_kind, _SHOWN_OF_A_KIND)


def _in_full(outcome: Outcome) -> str:
    lines = [f"{outcome.fault} in {outcome.run}: {outcome.planted}", f"fate: {outcome.fate}"]
    if outcome.verdict:
        lines.append(f"verdict: {outcome.verdict}")
    lines += [f"reason: {reason}" for reason in outcome.reasons]
    lines += [f"changed: {change}" for change in outcome.changes]
    lines += [outcome.error] if outcome.error else []
    return "\n".join(lines)
