"""`./lab dev faults`: reads or makes the runs, plants the faults, and puts the outcome in words."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from base.tell import Tell
from quality.faults import planting, series
from quality.faults.planting import Fault, FaultError, Healthy, read_healthy
from quality.faults.series import FATES, Outcome, Report

# A word on progress now and then is enough.
_TELL_EVERY = 10


def run(
    folders: Sequence[Path], n: int, pairs: int, seed: int, jobs: int, tell: Tell = lambda _: None
) -> Report:
    """A series over the runs in `folders`; without any, over small ones that are made for it.
    `tell` hears what is under way.

    Raises TailscopeError, and FaultError for numbers that make no sense.
    """
    for option, number in (("n", n), ("jobs", jobs)):
        if number < 1:
            raise FaultError(f"--{option} {number}: give 1 or more.")
    for option, number in (("seed", seed), ("pairs", pairs)):
        if number < 0:
            raise FaultError(f"--{option} {number}: give 0 or more.")
    with _runs(folders, tell) as runs:
        began_s = time.monotonic()

        def told(done: int) -> None:
            if done % _TELL_EVERY == 0:
                left_s = (time.monotonic() - began_s) / done * (n + pairs - done)
                tell(f"{done:,} of {n + pairs:,} faults planted, about {left_s:,.0f} s left")

        return series.run(runs, n, seed, jobs, told, pairs)


def replay(folders: Sequence[Path], name: str, seed: int, tell: Tell = lambda _: None) -> Outcome:
    """One fault of such a series again, by its name KIND:NUMBER. Raises FaultError."""
    fault = Fault.named(name)
    with _runs(folders, tell) as runs:
        return series.replay(runs, fault, seed)


@contextmanager
def _runs(folders: Sequence[Path], tell: Tell) -> Iterator[list[Healthy]]:
    if folders:
        yield [read_healthy(folder) for folder in folders]
        return
    with tempfile.TemporaryDirectory(prefix="tailscope-faults-") as made:
        yield planting.make(Path(made), tell)


WIDTH_COLUMNS = 100
_BAD = "bold red"
_PASSED = "\ncomplete, with a headline changed by more than its budget:"
_CRASHED = "\nthe judge failed:"
_SHOWN_OF_A_KIND, _CHANGES_SHOWN = 2, 3


def as_text(report: Report | Outcome) -> str:
    """A series as its table by kind, with what passed and what crashed; or one outcome in full."""
    if isinstance(report, Outcome):
        return _in_full(report)
    console = Console(width=WIDTH_COLUMNS, highlight=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(_table(report))
        for heading, lines in ((_PASSED, [*_passed(report)]), (_CRASHED, [*_crashed(report)])):
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
