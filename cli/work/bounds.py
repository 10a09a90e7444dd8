"""`./lab bounds`: a program's bounds, with progress."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.program.bounds import evidence
from analysis.program.bounds.explained import LONGEST, Explained, explain
from analysis.program.bounds.measure import BoundsReport, bounds
from cli.work import progress
from dashboards import bounds as pages
from simulator.program import user_program


def write_page(found: BoundsReport, told: Explained | None, output: Path) -> None:
    """Writes the page, of the longest section that has a bound if none was asked for."""
    pages.write(found, told or _longest(found), output)


def _longest(found: BoundsReport) -> Explained | None:
    return explain(found, LONGEST) if any(one.cycles is not None for one in found.all) else None


def check_evidence(folder: Path, outcomes: tuple[Path, ...]) -> None:
    """Raises NoBoundError for a folder that holds something else, or for no outcome of a trial."""
    evidence.check(folder, outcomes)


_NAMES = {"stated": "--loops", "hse": "--hse"}


def write_evidence(
    found: BoundsReport,
    told: Explained | None,
    folder: Path,
    chosen: Mapping[str, Any],
    tool: str,
    outcomes: tuple[Path, ...] = (),
) -> None:
    """Writes the folder. `chosen` are the options that decide what comes out, by names of here."""
    told = told or _longest(found)
    given = {_NAMES.get(name, f"--{name.replace('_', '-')}"): value for name, value in chosen.items()}
    files = {
        name: Path(value)
        for name, value in given.items()
        if name in ("--loops", "--kernel", "--chip") and value and Path(value).is_file()
    }
    options = {
        name: files[name].name if name in files else "" if value is True else str(value)
        for name, value in sorted(given.items())
        if value not in (None, "", False)
    }
    page = {"page.html": pages.html(found, told).encode()}
    evidence.write(found, told, evidence.Asked(options, files, tool, outcomes), folder, page)


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
    **board: Any,
) -> BoundsReport:
    """The bounds of the program in the file `elf`. `tasks` to `ticks` are the
    counts of a kernel's file. `board` are the words of
    simulator.program.user_program(). Raises TailscopeError.
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
