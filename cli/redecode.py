"""`./lab redecode`: a stored run judged again."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import argument, declare
from cli.shell.values import RUN


@declare(section="Run and measure")
@argument("run", type=RUN, help="a run folder")
def command(run: Path) -> int:
    """Decode, join and judge a stored run again, without the board."""
    from capture.conduct import redecode

    result = redecode(run)
    print(f"{result.verdict}: {' '.join(result.reasons)}" if result.reasons else result.verdict)
    return int(result.verdict != "complete")
