"""`./lab heap reproduce`: the tables of five publications, beside their published values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import BUILD
from cli.shell import shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER

if TYPE_CHECKING:
    from studies.reproduce.beside import Beside

_HTML = "reproduced.html"


@declare(section="Published figures")
@argument("table", nargs=-1, help="tables of five publications, as --list names them; all when none is given")
@option("--quick", is_flag=True, help="fewer seeds, one placement, and only the allocators that a table has")
@option("--list", "listed", is_flag=True, help="name the tables and say how each compares")
@shared.jobs
@option(
    "--output",
    type=OUTPUT_FOLDER,
    default=BUILD / "reproduced",
    show_default="build/reproduced",
    help="the folder for the page and CSV files",
)
@json_option
def command(
    table: tuple[str, ...], quick: bool, listed: bool, jobs: int, output: Path, as_json: bool
) -> None:
    """Make the tables of five publications again, beside their published values."""
    from dataclasses import asdict

    from base.files import results as csv_files
    from studies.reproduce import beside
    from studies.reproduce.conclusions import conclusions

    if listed:
        print(listing())
        return
    results = None if table or quick else csv_files.FOLDER
    done = run(table, quick=quick, jobs=jobs, output=output, results=results)
    answer(
        as_json,
        lambda: [
            {
                "table": made.table.name,
                "conclusions": list(map(asdict, conclusions(made))),
                "figures": beside.rows(made),
            }
            for made in done
        ],
        lambda: "\n".join(as_text(done, output)),
    )


def run(
    words: Sequence[str], *, output: Path, quick: bool = False, jobs: int, results: Path | None = None
) -> list[Beside]:
    """Makes the tables again that are named, or all, and writes what came out into a folder.

    CSV files are there as soon as their table is done. `results` is the folder for what the
    repository keeps of all tables. Raises TailscopeError, and Stopped with what is kept.
    """
    from base.files.whole import write_bytes
    from base.processes import signals
    from cli.shell import under_way
    from studies.reproduce import beside, engine, page
    from studies.reproduce.engine import Budget
    from studies.reproduce.kept import Kept

    names = engine.chosen(words)
    done: list[Beside] = []
    try:
        with under_way.shown() as tell:
            keep = Kept(tell=lambda step: tell(f"{len(done)} of {len(names)}: {step}"))
            for made in engine.run(names, Budget(quick, jobs), keep):
                done.append(made)
                write_bytes(output / f"{made.table.name}.csv", beside.as_csv(made).encode())
            write_bytes(output / _HTML, page.html(done).encode())
            if results:
                for name, text in page.results(done).items():
                    write_bytes(results / name, text.encode())
    except signals.Stopped as stopped:
        remains = f"{len(done)} of {len(names)} tables are done, and what was measured is kept: run again"
        raise signals.Stopped(stopped.number, remains) from None
    return done


def as_text(done: Sequence[Beside], output: Path) -> Iterator[str]:
    """For each table its conclusions and a line on its figures; then where the page is."""
    from studies.reproduce.conclusions import conclusions, headline

    width = max(len(made.table.name) for made in done)
    for made in done:
        for conclusion in conclusions(made):
            yield f"{made.table.name:{width}}  {conclusion.verdict}: {conclusion.says}"
            behind = (conclusion.evidence, conclusion.cause)
            yield from (f"{'':{width}}    {words}" for words in behind if words)
        yield f"{made.table.name:{width}}  {headline(made)}"
    yield f"page: {output / _HTML}"


def listing() -> str:
    """A line for each table: its name, how it compares, what it is and where it stands."""
    from studies.reproduce import published

    width = max(map(len, published.names()))
    lines = []
    for source in published.sources():
        for table in source.table:
            how = table.compared if table.making or table.reason else "not yet"
            lines.append(f"{table.name:{width}}  {how:13}  {table.title} ({source.author}, {table.place})")
    return "\n".join(lines)
