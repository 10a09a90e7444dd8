"""The plan of a scenario as a user chose it."""

from __future__ import annotations

from base.files.errors import CaptureError
from base.processes import signals
from cli.shell.values import seconds_of
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
        {name: _in_cycles(name, value, board) for name, value in options.parameters.items()},
        seed=options.seed,
        stimulus=options.stimulus,
        heap_bytes=options.heap_bytes,
        tell=kept.tell,
    )
    signals.check()
    return scenario.compile(region.place(board))


def _in_cycles(name: str, value: str | int, board: Board) -> str | int:
    """A time, `10us`, as cycles of the board's core, where the parameter has such."""
    is_time = isinstance(value, str) and name.endswith("_cycles")
    return round(seconds_of(str(value)) * board.core_hz) or value if is_time else value


def _check_control(control: str | None, board: Board) -> None:
    if control and not board.has_control and asks_for_control(control):
        raise CaptureError(
            f"{board.title} has no control interrupt, and --stimulus {control} gives it a period: leave that "
            "out, or say 0."
        )
