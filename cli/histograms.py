"""`./lab histograms`: a run's distributions for other tools."""

from __future__ import annotations

from pathlib import Path

from base.paths import BUILD
from cli.shell.declare import argument, declare, option
from cli.shell.values import OUTPUT_FOLDER, RUN


@declare("Read what came out")
@argument("run", RUN, "a run folder")
@option("--output", OUTPUT_FOLDER, "the folder to write to; build/histograms/RUN when not given")
def command(run: Path, output: Path | None) -> None:
    """Write a run's distributions for HdrHistogram's tools, one .hgrm file for each statistic.

    Of a wire observed it is one for each pulse and latency.
    """
    from dashboards import extremes

    for path in extremes.write(run, output or BUILD / "histograms" / run.resolve().name):
        print(path)
