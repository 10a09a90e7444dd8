"""`./lab dev across`: one allocator on every board."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from cli.shell.declare import declare, option
from cli.shell.values import OUTPUT


@declare("Is the bench right?", of_checkout=True)
@option("--output", OUTPUT, "an HTML file to write, with figures")
def command(output: Path | None) -> None:
    """Run seglist and TLSF on every virtual board, and write docs/results/across-*.csv."""
    from base.files import results
    from cli.shell import under_way

    with under_way.shown() as tell, TemporaryDirectory(prefix="tailscope-across-") as folder:
        from studies.tables import boards

        measured = boards.measured(Path(folder), under_way.Counted(tell, boards.steps()))
    if output:
        from dashboards import compare as page

        page.sheet_of_boards(measured).write(output)
    for result in boards.results_of(measured):
        print(results.write(*result))
