"""`./lab twin`: a board's run beside the same run on the virtual board."""

from __future__ import annotations

from pathlib import Path

from cli.shell import shared, under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT, RUN


@declare("Read what came out")
@argument("run", RUN, "a run folder, of any board")
@option("--output", OUTPUT, "the HTML file to write: residuals as a histogram and over the operations")
@shared.allocator_file
@json_option
def command(run: Path, output: Path | None, allocator: Path | None, as_json: bool) -> int:
    """Replay a run on the virtual board, show where both differ, and what explains it."""
    from analysis.twin.comparison import compare

    with under_way.shown() as tell:
        comparison = compare(run, tell, allocator)
    if output:
        from dashboards import twin

        twin.sheet(comparison).write(output)
    answer(as_json, comparison.as_json, comparison.as_text, page=output)
    return int(not comparison.explained)
