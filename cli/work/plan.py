"""The plan of a scenario as a user chose it."""

from __future__ import annotations

from base.files.errors import CaptureError
from base.processes import signals
from cli.work import kept
from cli.work.options import Options
from firmware.build import region
from firmware.build.boards import Board
from scenarios import catalogue
from scenarios.plan import Plan
from scenarios.stimulus import asks_for_control


def compiled(name: str, options: Options, board: Board) -> Plan:
    """The plan of the scenario `name` for a board.

    Raises ScenarioError, CaptureError, and signals.Stopped.
    """
    _check_control(options.stimulus, board)
    scenario = catalogue.load(
        name,
        options.parameters,
        seed=options.seed,
        stimulus=options.stimulus,
        heap_bytes=options.heap_bytes,
        tell=kept.tell,
        core_hz=board.core_hz,
    )
    signals.check()
    return scenario.compile(region.place(board))


def _check_control(control: str | None, board: Board) -> None:
    if control and not board.has_control and asks_for_control(control):
        raise CaptureError(
            f"{board.title} has no control interrupt, and --stimulus {control} gives it a period: leave that "
            "out, or say 0."
        )
