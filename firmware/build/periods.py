"""Whether the timers of a board have the periods that a stimulus asks for."""

from __future__ import annotations

from firmware.build.boards import Board
from scenarios.stimulus import Stimulus


def objection(stimulus: Stimulus, scenario: str, board: Board) -> str | None:
    """Why the timers cannot play the stimulus, in one sentence; None if they can."""
    timers = board.timers
    periods = [("stimulus", _longest_ticks(stimulus), timers.stimulus.longest_ticks)]
    if timers.control:  # without one, a run comes without
        periods.append(("control", stimulus.control_period_ticks, timers.control.longest_ticks))
    for name, ticks, longest in periods:
        if ticks > longest:
            return (
                f"The {name} of {scenario} takes {ticks:,} ticks from edge to edge, and its timer on "
                f"{board.title} counts {longest:,}: give a shorter period with --stimulus."
            )
    return None


def _longest_ticks(stimulus: Stimulus) -> int:
    """From an edge to the next; a random interval is less than one and a half periods."""
    return stimulus.period_ticks * 3 // 2 if stimulus.mode == "random" else stimulus.period_ticks
