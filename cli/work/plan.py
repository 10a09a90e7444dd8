"""The plan of a scenario as a user chose it."""

from __future__ import annotations

from base.processes import signals
from capture.desk.bench import read_bench
from cli.work import kept
from cli.work.options import Options
from firmware.build import region
from scenarios import catalogue
from scenarios.plan import Plan


def compiled(name: str, options: Options) -> Plan:
    """The plan of the scenario `name` for the board that was chosen.

    Raises ScenarioError, CaptureError, and signals.Stopped.
    """
    scenario = catalogue.load(
        name,
        options.parameters,
        seed=options.seed,
        stimulus=options.stimulus,
        heap_bytes=options.heap_bytes,
        tell=kept.tell,
    )
    signals.check()
    return scenario.compile(region.place(read_bench().board(options.board).board))
