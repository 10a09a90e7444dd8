"""PulseView's set-up for a session file: the decoders that are on, and what it shows first.

A set-up (`.pvs`) is an INI file of Qt's QSettings: nested groups are joined by backslashes. The
keys are those of PulseView 0.4 (`restore_settings` of `pv/session.cpp`, `pv/data/decodesignal.cpp`
and `pv/views/trace/view.cpp`, `restore_gvariant` of `pv/globalsettings.cpp`). PulseView restores it
by itself where it stands beside the session file and has its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
VARIABLES = {"SIGROKDECODE_DIR": str(FOLDER), "PYTHONDONTWRITEBYTECODE": "1"}
"""With these sigrok finds the decoders of this room, and leaves the folder as it is."""

# SRD_INITIAL_PIN_SAME_AS_SAMPLE0 of libsigrokdecode.h: a channel begins at the level of its first
# sample.
_SAME_AS_SAMPLE_0 = 2

# A time is a decimal number of boost::multiprecision as boost::serialization writes it: six groups
# of eight digits, the first with the point behind it, then exponent, sign, class, groups in use.
_GROUPS, _GROUP_DIGITS = 6, 8
_ARCHIVE = "22 serialization::archive 15 0 0 0 0"

CORE_HZ = 84_000_000
"""What the decoders' option `core_hz` is where nobody says another (their pd.py)."""

_SHOWN_PIXELS = 800
_ABOVE_PIXELS = 24
_MARGIN = 0.25
"""Of what is shown: on either side of it."""


DECODERS = (
    ("critical_section", "Critical section", ("CRIT", "OP", "SYNC")),
    ("irq_latency", "IRQ latency", ("STIM", "ISR", "TASK", "CTRL", "CISR", "CRIT")),
)
"""Id and name of each, and our channels for its channels, the mandatory before the optional."""


@dataclass(frozen=True)
class Marked:
    """A part of a capture to begin with, between two cursors."""

    begin_s: Fraction
    end_s: Fraction


def setup(marked: Marked | None = None, core_hz: int = CORE_HZ) -> str:
    """The text of the set-up file. It shows what is `marked`, or all of the capture. The decoders
    count cycles of a core of `core_hz`.
    """
    lines = ["[General]", f"decode_signals={len(DECODERS)}"]
    if marked:
        lines += ["views=1", "meta_objs=1"]
    for number, (decoder, name, signals) in enumerate(DECODERS):
        lines += ["", f"[decode_signal{number}]", f"name={name}", "enabled=true", "decoders=1"]
        lines.append(rf"decoder0\id={decoder}")
        if core_hz != CORE_HZ:
            # A QByteArray, as QSettings writes it: of a GVariant of type x, a number of 64 bits.
            value = "".join(rf"\x{byte:x}" for byte in core_hz.to_bytes(8, "little"))
            lines += [
                r"decoder0\options=1",
                r"decoder0\option0\name=core_hz",
                rf"decoder0\option0\value=@ByteArray({value})",
                r"decoder0\option0\type=x",
            ]
        lines.append(f"channels={len(signals)}")
        for channel, signal in enumerate(signals):
            lines += [
                rf"channel{channel}\assigned_signal_name={signal}",
                rf"channel{channel}\initial_pin_state={_SAME_AS_SAMPLE_0}",
            ]
    if marked:
        span_s = marked.end_s - marked.begin_s
        first_s = max(marked.begin_s - span_s * Fraction(_MARGIN), Fraction(0))
        lines += [
            "",
            "[view0]",
            f"scale={float(span_s) * (1 + 2 * _MARGIN) / _SHOWN_PIXELS!r}",
            f"offset={timestamp(first_s)}",
            f"v_offset={-_ABOVE_PIXELS}",
            "",
            "[meta_obj0]",
            "type=selection",
            "assoc_view=0",
            f"start_time={timestamp(marked.begin_s)}",
            f"end_time={timestamp(marked.end_s)}",
        ]
    return "\n".join(lines) + "\n"


def timestamp(time_s: Fraction) -> str:
    """A time from 0 to below 10**8 s, in the words in which PulseView keeps it."""
    fraction_digits = (_GROUPS - 1) * _GROUP_DIGITS
    digits = f"{round(time_s * 10**fraction_digits):0{_GROUPS * _GROUP_DIGITS}d}"
    groups = [int(digits[at : at + _GROUP_DIGITS]) for at in range(0, len(digits), _GROUP_DIGITS)]
    leading = next((number for number, group in enumerate(groups) if group), 0)
    shifted = groups[leading:] + [0] * leading
    return f"{_ARCHIVE} {' '.join(map(str, shifted))} {-_GROUP_DIGITS * leading} 0 0 {_GROUPS}"
