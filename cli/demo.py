"""`./lab demo`: the first run."""

from __future__ import annotations

from cli import scenario
from cli.shell import shared
from cli.shell.declare import declare, json_option, option

SCENARIOS = ("mem_stress", "mem_frag")


@declare("Run and measure")
@option("--full", "print all statistics, also of many runs")
@json_option
def command(full: bool, as_json: bool) -> int:
    """Run mem_stress and mem_frag on seglist and TLSF, and write the dashboard."""
    return scenario.run(SCENARIOS, shared.USUAL_TWO.split(","), full=full, as_json=as_json)
