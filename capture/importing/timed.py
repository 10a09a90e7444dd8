"""Edges that are told by time, and the samples that they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from base.files.errors import CaptureError
from base.run_folder.edges import MOST_SAMPLES, EdgeList, Samples, Words, settled
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


Seconds = npt.NDArray[np.float64]
RateFrom = Literal["file", "option", "resolution"]
"""Who says what the samplerate is: the file, the user, or nobody. Then a sample lasts as long as
the unit of the file's times, but at least 1 ns.
"""

_FINEST_S = 1e-9
# How far from a sample a time may lie that is told exactly, in samples: what a float loses.
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Timed:
    """Of each of our channels the level at the beginning, and when it changes.

    `changes_s` are float64, not decreasing. All times are in seconds from one and the same origin,
    told to `resolution_s`. `samplerate_hz` is what the file says of the analyzer, None where it
    says nothing. `cut`: the file ends in the middle, and this is what came before.
    """

    initial: dict[str, bool]
    changes_s: dict[str, Seconds]
    begin_s: float
    end_s: float
    resolution_s: float
    samplerate_hz: int | None = None
    cut: bool = False


def sampled(timed: Timed, samplerate_hz: int | None) -> tuple[EdgeList, RateFrom]:
    """The samples that the times came from, at `samplerate_hz` if that is given.

    The first edge lies on a sample, whatever the begin does. Raises CaptureError where the times
    are none of a capture, or not those of that samplerate.
    """
    _check_times(timed)
    rate_hz = agreed(timed.samplerate_hz, samplerate_hz)
    rate_from: RateFrom = "option" if timed.samplerate_hz is None else "file"
    if rate_hz is None:
        rate_hz, rate_from = max(round(1 / max(timed.resolution_s, _FINEST_S)), 1), "resolution"
    total = (timed.end_s - timed.begin_s) * rate_hz
    if total > MOST_SAMPLES:
        raise CaptureError(
            f"it lasts {timed.end_s - timed.begin_s:.6g} s, which are more than {MOST_SAMPLES:,} samples "
            f"at {rate_hz:,} Hz; give --samplerate, or a shorter capture."
        )
    origin_s = min((times[0] for times in timed.changes_s.values() if times.size), default=timed.begin_s)
    first = round((origin_s - timed.begin_s) * rate_hz)
    places = {name: (times - origin_s) * rate_hz for name, times in timed.changes_s.items()}
    if rate_from != "resolution":
        _check_grid(places, rate_hz, timed.resolution_s)
    samples = {name: np.rint(place).astype(np.int64) + first for name, place in places.items()}
    last = max((int(sample[-1]) for sample in samples.values() if sample.size), default=0)
    rows, words = _merged(timed.initial, samples)
    edges = EdgeList(rows, words, rate_hz, max(round(total), last + 1), tuple(timed.initial))
    return edges, rate_from


def _check_times(timed: Timed) -> None:
    ends = np.array([timed.begin_s, timed.end_s])
    if not all(np.isfinite(times).all() for times in (ends, *timed.changes_s.values())):
        raise CaptureError("a time in it is no number.")
    for times in (ends, *timed.changes_s.values()):
        if (np.diff(times) < 0).any():
            raise CaptureError("its times do not increase.")
        if times.size and (times[0] < timed.begin_s or times[-1] > timed.end_s):
            raise CaptureError("an edge in it lies outside of its begin and end.")


def _check_grid(places: dict[str, Seconds], rate_hz: int, resolution_s: float) -> None:
    """Raises CaptureError unless each time is that of a sample, as exactly as it is told."""
    allowed = rate_hz * resolution_s + _ROUNDING
    if allowed > 0.5:
        raise CaptureError(
            f"its times are told to {resolution_s * 1e9:.6g} ns, too coarse for samples of {rate_hz:,} Hz; "
            "give the samplerate at which it was captured."
        )
    worst = max((float(np.abs(at - np.rint(at)).max()) for at in places.values() if at.size), default=0.0)
    if worst > allowed:
        raise CaptureError(
            f"its edges do not lie on samples of {rate_hz:,} Hz; give the samplerate at which it was "
            "captured, or none."
        )


def _merged(initial: dict[str, bool], samples: dict[str, Samples]) -> tuple[Samples, Words]:
    """The rows of the edge list. Two changes of a channel within one sample cancel each other."""
    begin = sum(level << bit for bit, level in enumerate(initial.values()))
    place = np.concatenate((np.zeros(1, np.int64), *samples.values()))
    flips = [np.full(array.size, 1 << bit, np.uint8) for bit, array in enumerate(samples.values())]
    flip = np.concatenate((np.array([begin], np.uint8), *flips))
    order = np.argsort(place, kind="stable")
    return settled(place[order], np.bitwise_xor.accumulate(flip[order]))
