"""The set-up with which PulseView opens a capture with both decoders on.

A set-up (`.pvs`) is an INI file of Qt's QSettings: nested groups are joined by backslashes. The
keys are those of PulseView 0.4 (`pv/session.cpp` and `pv/data/decodesignal.cpp`, restore_settings).
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# SRD_INITIAL_PIN_SAME_AS_SAMPLE0 of libsigrokdecode.h: a channel begins at the level of its first
# sample.
_SAME_AS_SAMPLE_0 = 2


class _Decoder(NamedTuple):
    """A decoder; `signals` are our channels for its channels, the mandatory before the optional."""

    id: str
    name: str
    signals: tuple[str, ...]


DECODERS = (
    _Decoder("critical_section", "Critical section", ("CRIT", "OP", "SYNC")),
    _Decoder("irq_latency", "IRQ latency", ("STIM", "ISR", "TASK", "CTRL", "CISR", "CRIT")),
)


def setup() -> str:
    """The text of the set-up file."""
    lines = ["[General]", f"decode_signals={len(DECODERS)}"]
    for number, decoder in enumerate(DECODERS):
        lines += ["", f"[decode_signal{number}]", *_decode_signal(decoder)]
    return "\n".join(lines) + "\n"


def _decode_signal(decoder: _Decoder) -> Iterator[str]:
    yield f"name={decoder.name}"
    yield "enabled=true"
    yield "decoders=1"
    yield rf"decoder0\id={decoder.id}"
    yield f"channels={len(decoder.signals)}"
    for number, signal in enumerate(decoder.signals):
        yield rf"channel{number}\assigned_signal_name={signal}"
        yield rf"channel{number}\initial_pin_state={_SAME_AS_SAMPLE_0}"


def main() -> None:
    """`python -m decoders.pulseview setup.pvs`"""
    parser = argparse.ArgumentParser(description="Write a PulseView set-up with both decoders on.")
    parser.add_argument("path", type=Path, help="where to write it, for example build/tailscope.pvs")
    parser.parse_args().path.write_text(setup(), encoding="utf-8")


if __name__ == "__main__":
    main()
