"""Pins of a chip that a user names, and the analyzer's inputs that are clipped to them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from base.files.complaints import quoted
from base.files.errors import CaptureError, near_miss
from base.run_folder.channels import CHANNELS
from capture.desk.bench import BoardResource

Pins = Mapping[str, str]
"""The pin of each channel."""
# Of the STM32F4 line: ports A to K, of sixteen pins each.
_PIN = re.compile(r"P[A-K](1[0-5]|[0-9])")
# Of the virtual Nucleo (simulator/crates/stm32/src/edges.rs): all of ports A to E, and two of H.
_OWN_NAME = re.compile(r"[\w.][\w.-]{0,39}")
_VIRTUAL_PIN = re.compile(r"P([A-E](1[0-5]|[0-9])|H[01])")


def check_pins(pins: Pins, board: BoardResource) -> dict[str, str]:
    """`pins` by channel, those of CHANNELS in their order and then names of the user's own. Of a
    real board one of these has the analyzer's input that is clipped there.

    Raises CaptureError for those that cannot be.
    """
    if not 1 <= len(pins) <= len(CHANNELS):
        raise CaptureError(
            f"{len(pins) or 'No'} pins are named: give --channels CRIT=PA8,STIM=PA0,ISR=PA10, or up to "
            f"{len(CHANNELS)} such."
        )
    own = [name for name in pins if name not in CHANNELS]
    checked = {name: pins[name] for name in (*CHANNELS, *own) if name in pins}
    inputs = board.analyzer.by_channel.values()
    for name, pin in checked.items():
        if name in own and not _OWN_NAME.fullmatch(name):
            raise CaptureError(f"{quoted(name)} is no name of a channel: give letters, digits and _ . -")
        if name not in own or not board.is_real:
            if not _PIN.fullmatch(pin):
                raise CaptureError(f"{name}={pin[:40]}: that is no pin; write port and number, such as PA8.")
            if not board.is_real and not _VIRTUAL_PIN.fullmatch(pin):
                raise CaptureError(
                    f"{name}={pin}: the virtual board has no such pin; it has PA0 to PE15, PH0 and PH1."
                )
        elif pin not in inputs:
            raise CaptureError(
                f"{name}={pin[:40]}: say by which input of the analyzer a name of your own is captured, "
                f"{', '.join(inputs)}; the bench's own names are {', '.join(CHANNELS)}."
                f"{near_miss(name, CHANNELS)}"
            )
    for by_name in (checked, places(checked, board)):
        first: dict[str, str] = {}
        for name, place in by_name.items():
            if place in first:
                raise CaptureError(f"{first[place]} and {name} cannot both be {checked[name]}: name it once.")
            first[place] = name
    return checked


def places(pins: Pins, board: BoardResource) -> dict[str, str]:
    """The channel of ours whose input each of `pins` has: its own, that of the input that is named,
    or one that is free.
    """
    at = {theirs: ours for ours, theirs in board.analyzer.by_channel.items()}
    free = iter([name for name in CHANNELS if name not in pins])
    return {name: name if name in CHANNELS else at.get(pin) or next(free) for name, pin in pins.items()}


def clips(pins: Pins, board: BoardResource) -> str:
    """What the inputs of a virtual analyzer are clipped to, as the simulator reads it (clips.rs).

    Inputs of channels without a pin are open.
    """
    clipped = {ours: pins[name] for name, ours in places(pins, board).items()}
    inputs = board.analyzer.by_channel
    return ",".join(f"{theirs}={clipped.get(ours, 'open')}" for ours, theirs in inputs.items())
