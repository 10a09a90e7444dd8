"""`./lab extremes`: what lies beyond a run's maximum."""

from __future__ import annotations

from pathlib import Path

from base.run_folder.named_quantities import CHOICE
from cli.shell.declare import argument, declare, option
from cli.shell.values import RUN


@declare("Read what came out")
@argument("run", RUN, "a run folder")
@option(
    "--quantity",
    f"{CHOICE}; or a statistic of run.json, such as served_probes",
    metavar="QUANTITY",
    default="interrupt",
)
def command(run: Path, quantity: str) -> None:
    """Estimate the values beyond the maximum, or say why that cannot be done."""
    from dashboards import extremes

    print(extremes.as_text(run, quantity))
