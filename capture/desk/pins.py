"""Pins of a chip that a user names, and the analyzer's inputs that are clipped to them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from base.files.complaints import quoted
from base.files.errors import CaptureError, near_miss
from base.run_folder.edges import CHANNELS
from capture.desk.bench import BoardResource

# Of the STM32F4 line: ports A to K, of sixteen pins each.
_PIN = re.compile(r"P[A-K](1[0-5]|[0-9])")
# Of the virtual Nucleo (simulator/crates/stm32/src/edges.rs): all of ports A to E, and two of H.
_VIRTUAL_PIN = re.compile(r"P([A-E](1[0-5]|[0-9])|H[01])")


def check_pins(pins: Mapping[str, str], board: BoardResource) -> dict[str, str]:
    """`pins` by channel, in the order of CHANNELS. Raises CaptureError for those that cannot be."""
    if not pins:
        raise CaptureError("No pins are named: give --channels CRIT=PA8,STIM=PA0,ISR=PA10, or some of these.")
    for channel in pins:
        if channel not in CHANNELS:
            raise CaptureError(
                f"There is no channel {quoted(channel)}; give some of {', '.join(CHANNELS)}."
                f"{near_miss(channel, CHANNELS)}"
            )
    pin_by_role: dict[str, str] = {}
    for channel in CHANNELS:
        if channel not in pins:
            continue
        pin = pins[channel]
        _check_pin(channel, pin, board)
        if pin in pin_by_role:
            raise CaptureError(f"{pin_by_role[pin]} and {channel} cannot both be {pin}: name a pin once.")
        pin_by_role[pin] = channel
    return {channel: pin for pin, channel in pin_by_role.items()}


def clips(pins: Mapping[str, str], board: BoardResource) -> str:
    """What the inputs of a virtual analyzer are clipped to, as the simulator reads it (clips.rs).

    Inputs of channels without a pin are open.
    """
    inputs = board.analyzer.channels
    return ",".join(
        f"{inputs.get(channel, f'D{number}')}={pins.get(channel, 'open')}"
        for number, channel in enumerate(CHANNELS)
    )


def _check_pin(channel: str, pin: str, board: BoardResource) -> None:
    if not _PIN.fullmatch(pin):
        raise CaptureError(f"{channel}={pin[:40]}: that is no pin; write port and number, such as PA8.")
    is_virtual = board.loader.kind == "virtual-nucleo" or board.emulated is not None
    if is_virtual and not _VIRTUAL_PIN.fullmatch(pin):
        raise CaptureError(
            f"{channel}={pin}: the virtual board has no such pin; it has PA0 to PE15, PH0 and PH1."
        )
