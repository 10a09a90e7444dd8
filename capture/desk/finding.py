"""What a check of the desk finds: of devices, clips and captures alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["right", "there", "odd", "wrong", "skipped"]
ClipState = Literal["right", "noisy", "missing", "swapped", "shorted", "doubled", "loose"]


@dataclass(frozen=True)
class Figure:
    """A value in its `unit`, `plus_minus` what it may be off, of `n` measured things.

    None for `plus_minus` or `n` is not known, or has no meaning.
    """

    name: str
    value: float | int | str
    unit: str = ""
    plus_minus: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class ClippedInput:
    """An input, the channel whose pin it belongs on, and the channels whose pins it sees."""

    input: str
    channel: str
    state: ClipState
    sees: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """One thing that is there or is missing, and what to do about it.

    `right` is as it should be, and what the bench takes. `there` is something else that is plugged
    in. `odd` is worth knowing, and keeps nothing from running. After what is `wrong` nothing else
    would mean anything. `skipped` is not needed, or means nothing on this board.
    """

    subject: str
    state: State
    words: str
    remedies: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    clips: tuple[ClippedInput, ...] = ()
