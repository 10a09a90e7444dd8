"""The interrupts that a run is disturbed by: TIM2's stimulus and TIM5's never-masked control."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scenarios.errors import ScenarioError, quoted

MODES = ("none", "periodic")
_U32 = 0xFFFF_FFFF

# Both interrupts and the two context switches of the woken task take several hundred cycles; a period
# below this leaves the bench task nothing, and the run would never end; the firmware refuses it too.
MIN_PERIOD_TICKS = {"period": 2000, "control period": 500}

_OVERRIDE = re.compile(r"periodic:(\d{1,10})(?:,(\d{1,10}))?", re.ASCII)


@dataclass(frozen=True)
class Stimulus:
    """Periods in timer ticks, 84 MHz. Mode none has no periods; control_period_ticks 0 is no control.

    Raises ScenarioError where mode and periods contradict each other or do not fit the timers.
    """

    mode: str
    period_ticks: int
    control_period_ticks: int

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ScenarioError(f"The stimulus mode {quoted(self.mode)} is unknown; use none or periodic.")
        if not (0 <= self.period_ticks <= _U32 and 0 <= self.control_period_ticks <= _U32):
            raise ScenarioError("A stimulus period does not fit the 32-bit timers.")
        if self.mode == "none" and (self.period_ticks or self.control_period_ticks):
            raise ScenarioError("The stimulus mode is none, yet a period is given; drop one of them.")
        if self.mode == "periodic" and not self.period_ticks:
            raise ScenarioError("A periodic stimulus needs a period of at least one tick.")


NO_STIMULUS = Stimulus("none", 0, 0)


def override(own: Stimulus, asked: str) -> Stimulus:
    """What `asked` makes of a scenario's `own` stimulus.

    `none`; `periodic`, the scenario's own periods; `periodic:PERIOD[,CONTROL]` in ticks, where a CONTROL left
    out stays the scenario's and 0 switches the control off. Raises ScenarioError for anything else.
    """
    if asked == "none":
        return NO_STIMULUS
    if asked == "periodic":
        if own.mode != "periodic":
            raise ScenarioError(
                "This scenario has no periods of its own; ask for periodic:PERIOD,CONTROL in ticks."
            )
        return own
    if (match := _OVERRIDE.fullmatch(asked)) is None:
        raise ScenarioError(
            f"The stimulus {quoted(asked)} is not understood; "
            "use none, periodic or periodic:PERIOD[,CONTROL] in timer ticks."
        )
    period, control = match.groups()
    control_period_ticks = own.control_period_ticks if control is None else int(control)
    return playable(Stimulus("periodic", int(period), control_period_ticks))


def playable(stimulus: Stimulus) -> Stimulus:
    """The same stimulus. Raises ScenarioError where its periods leave the bench no time to run."""
    for name, ticks in (("period", stimulus.period_ticks), ("control period", stimulus.control_period_ticks)):
        if 0 < ticks < MIN_PERIOD_TICKS[name]:
            raise ScenarioError(
                f"A {name} of {ticks} ticks leaves the operations no time between interrupts; "
                f"use at least {MIN_PERIOD_TICKS[name]}."
            )
    return stimulus
