"""The interrupts that disturb a run: the stimulus, and the control, which nothing masks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from base.files.errors import near_miss
from scenarios.errors import ScenarioError, quoted

# A control interrupt keeps the processor for fewer cycles than this: its pulse lasts up to 187 on a
# Nucleo-F446RE with the accelerator off, and entry and return take up to 60.
CONTROL_CYCLES = 260

# The place in this list is the number in the image's header.
MODES = ("none", "periodic", "sweep", "random", "burst")
PARAMETERS = {"random": "seed", "burst": "spacing_ticks"}
"""The modes with one more number, and what that number is."""

DEFAULT_SEED = 1
DEFAULT_SPACING_TICKS = 700
"""Longer than a bare answer, shorter than one with its task switches: the two answers meet."""

_U32, _U16 = 0xFFFF_FFFF, 0xFFFF

# Both interrupts and the two context switches of the woken task take several hundred cycles. A
# period below this leaves the bench task no time, and the run would never end. The firmware refuses
# it too.
MIN_PERIOD_TICKS = {"period": 2000, "control period": 1000}
# A random interval is at least half a period.
MIN_RANDOM_PERIOD_TICKS = 2 * MIN_PERIOD_TICKS["period"]
MIN_SPACING_TICKS = 16

# Ticks from the arming of a swept stimulus, right before SYNC, to the operation.
SWEEP_LEAD_TICKS = 40
SWEEP_SPAN_MAX_TICKS = _U16 - SWEEP_LEAD_TICKS

_OVERRIDE = re.compile(r"([a-z]+)(?::(\d{1,10})(?:,(\d{1,10}))?(?:,(\d{1,10}))?)?", re.ASCII)


@dataclass(frozen=True)
class Stimulus:
    """A mode and its numbers. Ticks are those of the core's clock.

    `period_ticks` is the period of periodic and burst, and the mean interval of random. Of sweep it
    is the span of the offsets, or 0 if the scenario sets the offsets itself. A
    `control_period_ticks` of 0 is no control. `parameter` is the seed of random, and the ticks
    between the two edges of burst. Mode none has no periods.

    Raises ScenarioError if mode and numbers contradict each other or do not fit the timers.
    """

    mode: str
    period_ticks: int
    control_period_ticks: int
    parameter: int = 0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ScenarioError(
                f"The stimulus mode {quoted(self.mode)} is unknown; use one of {', '.join(MODES)}."
            )
        period, control, further = self.period_ticks, self.control_period_ticks, self.parameter
        fits = 0 <= period <= _U32 and 0 <= control <= _U32 and 0 <= further <= _U16
        limits = {
            "none": not period and not control,
            "sweep": period <= SWEEP_SPAN_MAX_TICKS,
            "periodic": period > 0,
            "random": period >= MIN_RANDOM_PERIOD_TICKS,
            "burst": MIN_SPACING_TICKS <= further <= period - MIN_PERIOD_TICKS["period"],
        }
        if not fits or not limits[self.mode] or (further and self.mode not in PARAMETERS):
            raise ScenarioError(
                f"A {self.mode} stimulus cannot have a period of {period} ticks, a control of {control} and "
                f"the number {further}: none has no periods, a sweep spans at most {SWEEP_SPAN_MAX_TICKS}, "
                f"random has at least {MIN_RANDOM_PERIOD_TICKS}, and the edges of a burst are at least "
                f"{MIN_SPACING_TICKS} apart and leave {MIN_PERIOD_TICKS['period']} of the period."
            )

    @property
    def shortest_ticks(self) -> int:
        """The least mean distance of several stimuli; 0 if operations ask for each of them."""
        if self.mode == "sweep":
            return 0
        return self.period_ticks // (2 if self.mode in PARAMETERS else 1)

    def __str__(self) -> str:
        """The text that `override` reads."""
        if self.mode == "none":
            return "none"
        further = f",{self.parameter}" if self.mode in PARAMETERS else ""
        return f"{self.mode}:{self.period_ticks},{self.control_period_ticks}{further}"


NO_STIMULUS = Stimulus("none", 0, 0)


def override(own: Stimulus, words: str) -> Stimulus:
    """What `words` make of a scenario's `own` stimulus.

    - `none`: no stimulus.
    - `MODE`: another mode with the scenario's own periods.
    - `MODE:PERIOD[,CONTROL[,NUMBER]]`: periods in ticks. A CONTROL left out stays the scenario's; 0
      switches the control off. NUMBER is the seed of random or the spacing of burst.

    Raises ScenarioError for anything else.
    """
    mode, period, control, number = parts(words)
    if mode == "none":
        return NO_STIMULUS
    if period is None and mode == own.mode:
        return own
    if period is None and not own.period_ticks:
        raise ScenarioError(
            f"This scenario has no periods of its own; ask for {mode}:PERIOD,CONTROL in ticks."
        )
    usual = {"random": DEFAULT_SEED, "burst": DEFAULT_SPACING_TICKS}.get(mode, 0)
    return playable(
        Stimulus(
            mode,
            own.period_ticks if period is None else period,
            own.control_period_ticks if control is None else control,
            usual if number is None else number,
        )
    )


def parts(words: str) -> tuple[str, int | None, int | None, int | None]:
    """Mode, period, control and number of an override; None for what it leaves out.

    Raises ScenarioError where override() could make nothing of `words` for any scenario.
    """
    match = _OVERRIDE.fullmatch(words)
    if (
        match is None
        or match[1] not in MODES
        or (match[4] and match[1] not in PARAMETERS)
        or (match[1] == "none" and match[2])
    ):
        raise ScenarioError(
            f"The stimulus {quoted(words)} is not understood; use none, or one of {', '.join(MODES[1:])}, "
            "alone or followed by :PERIOD[,CONTROL] in timer ticks (random and burst: [,NUMBER])."
            f"{near_miss(words.partition(':')[0], MODES)}"
        )
    period, control, number = (None if digits is None else int(digits) for digits in match.groups()[1:])
    return match[1], period, control, number


def playable(stimulus: Stimulus) -> Stimulus:
    """The same stimulus. Raises ScenarioError if its periods leave the bench no time to run."""
    for name, ticks in (("period", stimulus.period_ticks), ("control period", stimulus.control_period_ticks)):
        if 0 < ticks < MIN_PERIOD_TICKS[name] and not (stimulus.mode == "sweep" and name == "period"):
            raise ScenarioError(
                f"A {name} of {ticks} ticks leaves the operations no time between interrupts; "
                f"use at least {MIN_PERIOD_TICKS[name]}."
            )
    return stimulus
