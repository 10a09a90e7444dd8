"""`./lab heap reproduce`: chooses the tables, shows progress, writes the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from base.files.whole import write_bytes
from base.processes import signals
from cli.work import progress
from studies.reproduce import beside, comparisons, engine, page, published
from studies.reproduce.beside import Beside
from studies.reproduce.conclusions import conclusions
from studies.reproduce.engine import Budget
from studies.reproduce.kept import Kept

_HTML = "reproduced.html"


def run(
    words: Sequence[str], *, output: Path, quick: bool = False, jobs: int, pages_of_all: Path | None = None
) -> list[Beside]:
    """Makes the tables again that are named, or all, and writes what came out into a folder.

    CSV files are there as soon as their table is done. `pages_of_all` is another folder for the
    pages in Markdown. Raises TailscopeError, and Stopped with what is kept.
    """
    names = engine.chosen(words)
    done: list[Beside] = []
    with progress.shown() as tell, _kept(done, names):
        keep = Kept(tell=lambda step: tell(f"{len(done)} of {len(names)}: {step}"))
        for made in engine.run(names, Budget(quick, jobs), keep):
            done.append(made)
            write_bytes(output / f"{made.table.name}.csv", beside.as_csv(made).encode())
        write_bytes(output / _HTML, page.html(done).encode())
        for place in (output, *([pages_of_all] if pages_of_all else [])):
            for name, text in page.pages(done).items():
                write_bytes(place / name, text.encode())
    return done


def as_text(done: Sequence[Beside], output: Path) -> str:
    """For each table its conclusions and a line on its figures; then where the pages are."""
    width = max(len(made.table.name) for made in done)
    lines = [line for made in done for line in _lines(made, width)]
    return "\n".join([*lines, f"pages: {output / _HTML}, {output / page.INDEX}"])


def _lines(made: Beside, width: int) -> Iterator[str]:
    for conclusion in conclusions(made):
        yield f"{made.table.name:{width}}  {conclusion.verdict}: {conclusion.says}"
        yield from (f"{'':{width}}    {words}" for words in (conclusion.told, conclusion.cause) if words)
    yield f"{made.table.name:{width}}  {comparisons.headline(made)}"


def as_json(made: Beside) -> dict[str, Any]:
    """A table as docs/reference/heap-reproduce.md has it."""
    return {
        "table": made.table.name,
        "conclusions": [asdict(conclusion) for conclusion in conclusions(made)],
        "figures": beside.rows(made),
    }


def listing() -> str:
    """A line for each table: its name, how it compares, what it is and where it stands."""
    width = max(map(len, published.names()))
    return "\n".join(
        f"{table.name:{width}}  {_how(table):13}  {table.title} ({source.author}, {table.place})"
        for source in published.sources()
        for table in source.table
    )


def _how(table: published.PublishedTable) -> str:
    return table.compared if table.making or table.reason else "not yet"


@contextmanager
def _kept(done: Sequence[Beside], names: Sequence[str]) -> Iterator[None]:
    """What a signal leaves behind is told."""
    try:
        yield
    except signals.Stopped as stopped:
        words = f"{len(done)} of {len(names)} tables are done, and what was measured is kept: run again"
        raise signals.Stopped(stopped.number, words) from None
