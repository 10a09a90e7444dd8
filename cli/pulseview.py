"""`./lab pulseview`: a run in PulseView."""

from __future__ import annotations

from pathlib import Path

from base.run_folder.named_quantities import CHOICE
from cli.shell.declare import argument, declare, option
from cli.shell.values import QUANTITY, RUN


@declare(section="Read what came out")
@argument("run", type=RUN, help="a run folder")
@option("--worst", is_flag=True, help="begin at the worst sample, between two cursors, and say where it is")
@option("--quantity", type=QUANTITY, default="section", help=f"of which the worst is meant: {CHOICE}")
@option("--window", help="of a run of which only windows were kept: which one, such as CRIT-1")
def command(run: Path, worst: bool, quantity: str, window: str | None) -> int:
    """Open PulseView on a run, with the decoders on."""
    from cli.work import pulseview

    return pulseview.run(run, quantity if worst else None, window)
