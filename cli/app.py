"""`./lab app`: the runs in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

from base.paths import BUILD, RUNS
from cli.shell.declare import declare, option
from cli.shell.values import FOLDER, OptionError, whole


@declare("Read what came out")
@option("--port", whole(0, 65_535), "of this machine to answer at; 0 for any that is free", default=8050)
@option(
    "--runs",
    FOLDER,
    "the folder that holds the run folders, or campaigns with them",
    default=RUNS,
    show_default="runs",
)
def command(port: int, runs: Path) -> None:
    """Show all runs in a browser, as they come: matrix, figures, every sample. Ctrl-C ends it."""
    if not runs.exists():
        raise OptionError(
            f"{runs} does not exist; run a scenario first, or name another folder: --runs FOLDER."
        )
    from dashboards.app.pieces import Library
    from dashboards.app.server import serve

    serve(Library(runs), BUILD / "app-token", port)
