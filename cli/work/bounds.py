"""`./lab bounds`: a program's bounds, with progress."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from analysis.program.bounds import evidence
from analysis.program.bounds.explained import LONGEST, Explained, explain
from analysis.program.bounds.measure import BoundsReport, bounds
from cli.work import progress
from dashboards import bounds as pages
from simulator.program import ProgramOptions, user_program


class BoundsOptions(ProgramOptions):
    """The options that decide what comes out."""

    until: str
    kernel: str
    stated: Path | None
    wait_states: int | None
    pointers: str
    observed: float | None
    flash: str
    tasks: int | None
    priorities: int | None
    timers: int | None
    ticks: int | None


def write_page(report: BoundsReport, path: Explained | None, output: Path) -> None:
    """Writes the page, of the longest section that has a bound if no `path` is given."""
    pages.write(report, path or _longest(report), output)


def _longest(report: BoundsReport) -> Explained | None:
    return explain(report, LONGEST) if any(row.cycles is not None for row in report.all) else None


def check_evidence(folder: Path, outcomes: tuple[Path, ...]) -> None:
    """Raises NoBoundError for a folder that holds something else, or for no outcome of a trial."""
    evidence.check(folder, outcomes)


_NAMES = {"stated": "--loops", "hse": "--hse"}


def write_evidence(
    report: BoundsReport,
    path: Explained | None,
    folder: Path,
    options: BoundsOptions,
    tool: str,
    outcomes: tuple[Path, ...] = (),
) -> None:
    """Writes the folder."""
    path = path or _longest(report)
    given = {_NAMES.get(name, f"--{name.replace('_', '-')}"): value for name, value in options.items()}
    files = {
        name: Path(str(value))
        for name, value in given.items()
        if name in ("--loops", "--kernel", "--chip") and value and Path(str(value)).is_file()
    }
    shown = {
        name: files[name].name if name in files else "" if value is True else str(value)
        for name, value in sorted(given.items())
        if value not in (None, "", False)
    }
    page = {"page.html": pages.html(report, path).encode()}
    evidence.write(report, path, evidence.Asked(shown, files, tool, outcomes), folder, page)


def run(
    elf: str,
    *,
    until: str,
    kernel: str,
    stated: Path | None,
    wait_states: int | None,
    pointers: str,
    observed: float | None,
    flash: str,
    tasks: int | None,
    priorities: int | None,
    timers: int | None,
    ticks: int | None,
    **board: Unpack[ProgramOptions],
) -> BoundsReport:
    """The bounds of the program in the file `elf`. `tasks` to `ticks` are the
    counts of a kernel's file. Raises TailscopeError.
    """
    program = user_program(elf, **board)
    counts = {"tasks": tasks, "priorities": priorities, "timers": timers, "ticks": ticks}
    with progress.shown() as tell:
        return bounds(
            program,
            until,
            tell,
            kernel=kernel,
            stated=stated,
            wait_states=wait_states,
            pointers=pointers,
            observed=observed,
            flash=flash,
            counts={name: number for name, number in counts.items() if number is not None},
        )
