"""`./lab heap reproduce`: the tables of five publications, beside their published values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from base.paths import BUILD
from cli.shell import shared, under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER


@declare("Published figures")
@argument("table", "tables of five publications, as --list names them; all when none is given", nargs=-1)
@option("--quick", "fewer seeds, one placement, and only the allocators that a table has")
@option("--list", "listed", "name the tables and say how each compares")
@shared.jobs
@option(
    "--output",
    OUTPUT_FOLDER,
    "the folder for the CSV files",
    default=BUILD / "reproduced",
    show_default="build/reproduced",
)
@json_option
def command(
    table: tuple[str, ...], quick: bool, listed: bool, jobs: int, output: Path, as_json: bool
) -> None:
    """Make the tables of five publications again, beside their published values."""
    from dataclasses import asdict

    from base.files import results
    from base.files.whole import write_bytes
    from base.processes import signals
    from studies.reproduce import beside, engine, page, published
    from studies.reproduce.conclusions import conclusions, headline
    from studies.reproduce.kept import kept

    if listed:
        width = max(map(len, published.tables()))
        for source in published.sources():
            for row in source.table:
                how = row.compared if row.making or row.reason else "not yet"
                print(f"{row.name:{width}}  {how:13}  {row.title} ({source.author}, {row.place})")
        return
    names = engine.chosen(table)
    done: list[beside.Beside] = []
    try:
        with under_way.shown() as tell:
            # CSV files are there as soon as their table is done.
            for made in engine.run(names, engine.Budget(quick, jobs), kept):
                done.append(made)
                write_bytes(output / f"{made.table.name}.csv", beside.as_csv(made).encode())
                tell(f"{len(done)} of {len(names)} tables")
            # The repository keeps all tables.
            for name, text in page.results(done).items() if not (table or quick) else ():
                write_bytes(results.FOLDER / name, text.encode())
    except signals.Stopped as stopped:
        remains = f"{len(done)} of {len(names)} tables are done, and what was measured is kept: run again"
        raise signals.Stopped(stopped.number, remains) from None

    def lines() -> Iterator[str]:
        """For each table its conclusions and a line on its figures; then where the files are."""
        width = max(len(made.table.name) for made in done)
        for made in done:
            for conclusion in conclusions(made):
                yield f"{made.table.name:{width}}  {conclusion.verdict}: {conclusion.says}"
                behind = (conclusion.evidence, conclusion.cause)
                yield from (f"{'':{width}}    {words}" for words in behind if words)
            yield f"{made.table.name:{width}}  {headline(made)}"
        yield f"tables: {output}"

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
        lambda: "\n".join(lines()),
    )
