"""`./lab app`: the runs in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

from cli.options import OptionError

MOST_PORT = 65_535


def run(runs: Path, port: str, kept_in: Path) -> None:
    """Serves the app over the run folders below `runs` until a signal ends it.

    The index of the runs is kept in the folder `kept_in`. Raises TailscopeError.
    """
    number = _port(port)
    from dashboards.app.library import Library  # takes a while, and a wrong port need not wait
    from dashboards.app.server import serve

    if not runs.exists():
        raise OptionError(
            f"{runs} does not exist; run a scenario first, or name another folder: --runs FOLDER."
        )
    serve(Library(runs, kept_in), number)


def _port(port: str) -> int:
    if not (port.isascii() and port.isdigit() and len(port) <= 5) or int(port) > MOST_PORT:
        raise OptionError(f"--port {port}: a port is a whole number from 0 to {MOST_PORT:,}.")
    return int(port)
