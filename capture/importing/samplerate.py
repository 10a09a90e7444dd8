"""The samplerate: what a file says of it, and what a user does."""

from __future__ import annotations

from base.files.errors import CaptureError
from base.run_folder.session_file import samplerate_hz


def stated_in(text: str) -> int | None:
    """The rate that libsigrok writes as `84 MHz`; None where that is none."""
    try:
        return samplerate_hz(text) or None
    except ValueError:
        return None


def agreed(stated_hz: int | None, asked_hz: int | None) -> int | None:
    """What either says; None where both say nothing. Raises CaptureError where they contradict."""
    if stated_hz is not None and asked_hz not in (None, stated_hz):
        raise CaptureError(
            f"it states a samplerate of {stated_hz:,} Hz, not {asked_hz:,}; leave out --samplerate."
        )
    return asked_hz if stated_hz is None else stated_hz
