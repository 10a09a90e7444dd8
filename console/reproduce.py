"""`./lab reproduce`: chooses the tables, shows progress, writes the pages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from analysis.reproduce import campaign, comparisons, markdown, published, rows
from analysis.reproduce.beside import Beside
from analysis.reproduce.recipes import RECIPES
from analysis.reproduce.remade import Budget
from capture.files.whole import write_bytes
from capture.processes import signals
from console import options
from dashboards.reproduced import page

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "reproduced"
PAGE = ROOT / "docs" / "REPRODUCED.md"


def run(words: Sequence[str], *, quick: bool = False, jobs: str = "", output: str = "") -> list[Beside]:
    """Makes the tables again that are named, or all, and writes what came out into a folder.

    CSV files are there as soon as their table is done. All tables in full are also written to
    docs/REPRODUCED.md. Raises TailscopeError, and Stopped with what is kept.
    """
    names = campaign.chosen(words)
    processes = options.whole("jobs", jobs) if jobs else os.cpu_count() or 1
    folder = Path(output) if output else OUTPUT
    done: list[Beside] = []
    with _progress() as status, _kept(done, names):
        for made in campaign.run(
            names,
            Budget(quick, processes),
            lambda step: _tell(status, f"{len(done)} of {len(names)}: {step}"),
        ):
            done.append(made)
            write_bytes(folder / f"{made.table.name}.csv", rows.as_csv(made).encode())
        text = markdown.page(done).encode()
        write_bytes(folder / PAGE.name, text)
        write_bytes(folder / "reproduced.html", page.html(done).encode())
        if not quick and names == published.names() and not output:
            write_bytes(PAGE, text)
    return done


def as_text(done: Sequence[Beside], output: str = "") -> str:
    """A line for each table, and where the pages are."""
    width = max(len(made.table.name) for made in done)
    lines = [f"{made.table.name:{width}}  {comparisons.headline(made)}" for made in done]
    folder = Path(output) if output else OUTPUT
    return "\n".join([*lines, f"pages: {folder / 'reproduced.html'}, {folder / PAGE.name}"])


def listing() -> str:
    """A line for each table: its name, how it compares, what it is and where it stands."""
    width = max(map(len, published.names()))
    return "\n".join(
        f"{table.name:{width}}  {_how(table):13}  {table.title} ({source.author}, {table.place})"
        for source in published.sources()
        for table in source.table
    )


def _how(table: published.PublishedTable) -> str:
    return table.compared if table.name in RECIPES or table.reason else "not yet"


@contextmanager
def _progress() -> Iterator[Status]:
    with Console(stderr=True, highlight=False).status("") as status:
        yield status


@contextmanager
def _kept(done: Sequence[Beside], names: Sequence[str]) -> Iterator[None]:
    """What a signal leaves behind is told."""
    try:
        yield
    except signals.Stopped as stopped:
        words = f"{len(done)} of {len(names)} tables are done, and what was measured is kept: run again"
        raise signals.Stopped(stopped.number, words) from None


def _tell(status: Status, step: str) -> None:
    with suppress(OSError):  # a terminal that hung up ends nothing
        status.update(escape(step))
