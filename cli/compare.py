"""`./lab compare`: two runs or folders of runs; or the runs of several boards, side by side."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import FILE, RUN, Choice

EXIT_STATUS = {"equal": 0, "not worse": 0, "worse": 1, "cannot say": 2}


@declare(section="Compare and judge")
@argument("a", type=RUN, help="a run folder, or a folder of runs: what B is held against")
@argument("b", type=RUN, nargs=-1, help="a run folder, or a folder of runs; with --by, none or several")
@option(
    "--by",
    type=Choice("board"),
    help="board: set the runs of several boards side by side, in cycles and in µs, and judge none",
)
@option("--output", type=FILE, help="an HTML file to write")
@json_option
def command(a: Path, b: tuple[Path, ...], by: str | None, output: Path | None, as_json: bool) -> int:
    """Compare runs: what changed in settings and figures, by how much, and where.

    The exit status is 0 for equal or better, 1 for worse, 2 where that cannot be said.
    """
    from cli.work import compared

    if by == "board":
        compared.boards((a, *b), output, as_json)
        return 0
    return EXIT_STATUS[compared.pair(a, b, output, as_json)]
