"""`./lab redecode`: a stored run judged again."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import argument, declare, option
from cli.shell.values import RUN


@declare("Run and measure")
@argument("run", RUN, "a run folder")
@option(
    "--ignore-glitches/--keep-glitches",
    "leave out pulses that are too short to be the firmware's, or not; as before when not given",
    default=None,
)
def command(run: Path, ignore_glitches: bool | None) -> int:
    """Decode, join and judge a stored run again, without the board."""
    from capture.conduct import redecode

    result = redecode(run, ignore_glitches=ignore_glitches)
    print(f"{result.verdict}: {' '.join(result.reasons)}" if result.reasons else result.verdict)
    return int(result.verdict != "complete")
