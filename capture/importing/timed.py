"""Edges that are told by time, and the samples that they came from; and which of a file's channels
are looked at, and what they are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from base.arrays import Floats
from base.files.complaints import quoted
from base.files.errors import CaptureError
from base.run_folder.edges import (
    CHANNELS,
    MOST_CHANNELS,
    MOST_EDGES,
    MOST_SAMPLERATE_HZ,
    MOST_SAMPLES,
    NS_PER_S,
    EdgeList,
    Samples,
    settled,
)
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


Ticks = Samples | Floats
RateFrom = Literal["file", "option", "resolution"]
"""Who says what the samplerate is: the file, the user, or nobody. Then a sample lasts as long as
the unit of the file's times, or so many powers of ten longer that the capture is not too long.
"""

# How far from a sample a time may lie that is told exactly, in samples: what a float loses.
_ROUNDING = 1e-3


class Timed(NamedTuple):
    """What a file of this `format` has: of each channel the level at the beginning, and when it
    changes. `named` is the file's name of each.

    All times count ticks of `tick_s` from one and the same origin, and do not decrease. They are
    whole ticks, int64, unless `floats`. `samplerate_hz` is what the file says of the analyzer, None
    where it says nothing. `cut`: the file ends in the middle, and this is what came before.
    """

    format: str
    named: dict[str, str]
    initial: dict[str, bool]
    changes: Mapping[str, Ticks]
    begin: float
    end: float
    tick_s: Fraction
    samplerate_hz: int | None = None
    cut: bool = False
    floats: bool = False


def sampled(timed: Timed, samplerate_hz: int | None) -> tuple[EdgeList, RateFrom, int]:
    """The samples that the times came from, at `samplerate_hz` if that is given; who says so; and
    the number of edges that lay two in a sample, and so are none.

    The first edge lies on a sample, whatever the begin does. Raises CaptureError where the times
    are none of a capture, or not those of that samplerate.
    """
    for times in (np.array([timed.begin, timed.end]), *timed.changes.values()):
        if not np.isfinite(times).all():
            raise CaptureError("a time in it is no number.")
        if (np.diff(times) < 0).any():
            raise CaptureError("its times do not increase.")
        if times.size and (times[0] < timed.begin or times[-1] > timed.end):
            raise CaptureError("an edge in it lies outside of its begin and end.")
    lasts = Fraction(timed.end - timed.begin) * timed.tick_s
    rate_hz = agreed(timed.samplerate_hz, samplerate_hz)
    rate_from: RateFrom = "option" if timed.samplerate_hz is None else "file"
    if rate_hz is None:
        # A sample a tick, and 1 ns where times are floats; fewer by powers of ten where the capture
        # would be too long, or the samples too short.
        sample_s = Fraction(1, NS_PER_S) if timed.floats else timed.tick_s
        while lasts / sample_s > MOST_SAMPLES or 1 / sample_s > MOST_SAMPLERATE_HZ:
            sample_s *= 10
        rate_hz, rate_from = max(round(1 / sample_s), 1), "resolution"
    total = lasts * rate_hz
    if total > MOST_SAMPLES:
        raise CaptureError(
            f"it lasts {float(lasts):.6g} s, which are more than {MOST_SAMPLES:,} samples at {rate_hz:,} "
            "Hz; give --samplerate, or a shorter capture."
        )
    per_tick = float(rate_hz * timed.tick_s)
    origin = min((times[0] for times in timed.changes.values() if times.size), default=timed.begin)
    places = np.concatenate([(times - origin) * per_tick for times in timed.changes.values()])
    samples = np.rint(places)
    if rate_from != "resolution":
        # Each time is that of a sample, as exactly as it is told. Where a sample is a whole number
        # of ticks, that is to the tick.
        exact = timed.floats or (1 / (rate_hz * timed.tick_s)).denominator == 1
        allowed = _ROUNDING + (0.0 if exact else per_tick)
        if allowed > 0.5:
            raise CaptureError(
                f"its times are told to {float(timed.tick_s) * 1e9:.6g} ns, too coarse for samples of "
                f"{rate_hz:,} Hz; give the samplerate at which it was captured."
            )
        if np.abs(places - samples).max(initial=0.0) > allowed:
            raise CaptureError(
                f"its edges do not lie on samples of {rate_hz:,} Hz; give the samplerate at which it was "
                "captured, or none."
            )
    first = round(float(origin - timed.begin) * per_tick)
    sample = np.append(0, samples.astype(np.int64) + first)
    # Two changes of a channel within one sample cancel each other.
    flips = [np.full(times.size, 1 << bit) for bit, times in enumerate(timed.changes.values())]
    begin = sum(level << bit for bit, level in enumerate(timed.initial.values()))
    order = np.argsort(sample, kind="stable")
    word = np.bitwise_xor.accumulate(np.concatenate(([begin], *flips))[order])
    length = max(round(total), int(sample.max()) + 1)
    edges = EdgeList(*settled(sample[order], word), rate_hz, length, tuple(timed.initial))
    lost = places.size - sum(edges.transitions(name).sample.size for name in edges.channels)
    return edges, rate_from, lost


LINE_MOST_BYTES = 64 << 10


def check_count(changes: int) -> None:
    """Raises CaptureError where there are more changes than are read."""
    if changes > MOST_EDGES:
        raise CaptureError(
            f"it has more than {MOST_EDGES:,} edges: an input was probably floating; leave that channel out."
        )


# How tools call what sigrok calls D3: Saleae's CSV, its binary files, a bare number.
_DIGITAL = re.compile(r"D([0-9]{1,2})")
_ALIASES = ("Channel {}", "digital_{}", "{}")
_MOST_LISTED = 16
# That are looked up to see which are one net.
_MOST_NAMES = 256

Net = TypeVar("Net", bound=Hashable)
Named = Mapping[str, str] | None
"""The names that a user gave to the file's channels, ours and the file's.

None takes those that are called as CHANNELS are; without such, all of a file that has no more than
eight, under their own names.
"""


def among(named: Named, names: Sequence[str]) -> dict[str, int]:
    """The index in `names` of each channel, those of CHANNELS in their order before the others.

    Raises CaptureError where a channel is not there, or there is none at all.
    """
    return nets(named, lambda wanted: [at for at, name in enumerate(names) if name == wanted], names)[0]


def nets(
    named: Named, find: Callable[[str], list[Net]], names: Sequence[str]
) -> tuple[dict[str, Net], dict[str, str]]:
    """What `find` has for each channel, and the file's name of it. `names` are the file's own.

    Raises CaptureError as among() does.
    """
    chosen = {name: name for name in CHANNELS if find(name)} if named is None else named
    if not chosen and len(names) <= _MOST_NAMES:
        first = {net: name for name in reversed(names) for net in find(name)}
        if len(first) <= MOST_CHANNELS:
            chosen = {name: name for name in names if name in first.values()}
    listed = "the channels " + ", ".join(map(quoted, names[:_MOST_LISTED])) if names else "no logic channels"
    if len(names) > _MOST_LISTED:
        listed += f" and {len(names) - _MOST_LISTED} more"
    if not chosen:
        example = names[0] if names and names[0].isprintable() and len(names[0]) <= 40 else "D0"
        raise CaptureError(f"it has {listed}; say which is which, such as --channels CRIT={example}.")
    result: dict[str, Net] = {}
    for name in sorted(chosen, key=(*CHANNELS, *chosen).index):
        digital = _DIGITAL.fullmatch(chosen[name])
        aliases = (alias.format(int(digital[1])) for alias in _ALIASES if digital)
        several = next(filter(None, map(find, (chosen[name], *aliases))), [])
        if len(several) != 1:
            what = "several channels" if several else "no channel"
            raise CaptureError(f"it has {what} {quoted(chosen[name])}; it has {listed}.")
        result[name] = several[0]
    if len(set(result.values())) != len(result):
        raise CaptureError("two of the channels that are named are one of the file's.")
    return result, {name: chosen[name] for name in result}
