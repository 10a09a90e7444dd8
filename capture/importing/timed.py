"""Edges that are told by time, and the samples that they came from; and text line by line, with the
changes of a few channels in it, both within a bound; and which of a file's channels are looked at,
and what they are called.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import BinaryIO, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

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
    Words,
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


Ticks = npt.NDArray[np.int64] | npt.NDArray[np.float64]
RateFrom = Literal["file", "option", "resolution"]
"""Who says what the samplerate is: the file, the user, or nobody. Then a sample lasts as long as
the unit of the file's times, or so many powers of ten longer that the capture is not too long.
"""

# How far from a sample a time may lie that is told exactly, in samples: what a float loses.
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Timed:
    """Of each channel the level at the beginning, and when it changes.

    All times count ticks of `tick_s` from one and the same origin, and do not decrease. They are
    whole ticks, int64, unless `floats`. `samplerate_hz` is what the file says of the analyzer, None
    where it says nothing. `cut`: the file ends in the middle, and this is what came before.
    """

    initial: dict[str, bool]
    changes: dict[str, Ticks]
    begin: float
    end: float
    tick_s: Fraction
    samplerate_hz: int | None = None
    cut: bool = False
    floats: bool = False


class Sampled(NamedTuple):
    """The samples that times came from. `lost` are the edges that lay two in a sample, and so are
    none.
    """

    edges: EdgeList
    rate_from: RateFrom
    lost: int


def sampled(timed: Timed, samplerate_hz: int | None) -> Sampled:
    """The samples that the times came from, at `samplerate_hz` if that is given.

    The first edge lies on a sample, whatever the begin does. Raises CaptureError where the times
    are none of a capture, or not those of that samplerate.
    """
    _check_times(timed)
    rate_hz = agreed(timed.samplerate_hz, samplerate_hz)
    rate_from: RateFrom = "option" if timed.samplerate_hz is None else "file"
    if rate_hz is None:
        rate_hz, rate_from = _rate_of_resolution(timed), "resolution"
    per_tick = rate_hz * timed.tick_s
    total = float(timed.end - timed.begin) * float(per_tick)
    if total > MOST_SAMPLES:
        raise CaptureError(
            f"it lasts {float((timed.end - timed.begin) * float(timed.tick_s)):.6g} s, which are more than "
            f"{MOST_SAMPLES:,} samples at {rate_hz:,} Hz; give --samplerate, or a shorter capture."
        )
    origin = min((times[0] for times in timed.changes.values() if times.size), default=timed.begin)
    first = round(float(origin - timed.begin) * float(per_tick))
    places = {name: (times - origin) * float(per_tick) for name, times in timed.changes.items()}
    if rate_from != "resolution":
        _check_grid(places, rate_hz, timed)
    samples = {name: np.rint(place).astype(np.int64) + first for name, place in places.items()}
    last = max((int(sample[-1]) for sample in samples.values() if sample.size), default=0)
    rows, words = _merged(timed.initial, samples)
    edges = EdgeList(rows, words, rate_hz, max(round(total), last + 1), tuple(timed.initial))
    changes = sum(times.size for times in timed.changes.values())
    lost = changes - sum(edges.transitions(name).sample.size for name in edges.channels)
    return Sampled(edges, rate_from, lost)


def _rate_of_resolution(timed: Timed) -> int:
    """A sample a tick, and 1 ns where times are floats; fewer by powers of ten where the capture
    would be too long, or the samples too short.
    """
    sample_s = Fraction(1, NS_PER_S) if timed.floats else timed.tick_s
    lasts_s = Fraction(timed.end - timed.begin) * timed.tick_s
    while lasts_s / sample_s > MOST_SAMPLES or 1 / sample_s > MOST_SAMPLERATE_HZ:
        sample_s *= 10
    return max(round(1 / sample_s), 1)


def _check_times(timed: Timed) -> None:
    ends = np.array([timed.begin, timed.end])
    if not all(np.isfinite(times).all() for times in (ends, *timed.changes.values())):
        raise CaptureError("a time in it is no number.")
    for times in (ends, *timed.changes.values()):
        if (np.diff(times) < 0).any():
            raise CaptureError("its times do not increase.")
        if times.size and (times[0] < timed.begin or times[-1] > timed.end):
            raise CaptureError("an edge in it lies outside of its begin and end.")


def _check_grid(places: dict[str, npt.NDArray[np.float64]], rate_hz: int, timed: Timed) -> None:
    """Raises CaptureError unless each time is that of a sample, as exactly as it is told. Where a
    sample is a whole number of ticks, that is to the tick.
    """
    exact = timed.floats or (1 / (rate_hz * timed.tick_s)).denominator == 1
    allowed = _ROUNDING + (0.0 if exact else float(rate_hz * timed.tick_s))
    if allowed > 0.5:
        raise CaptureError(
            f"its times are told to {float(timed.tick_s) * 1e9:.6g} ns, too coarse for samples of "
            f"{rate_hz:,} Hz; give the samplerate at which it was captured."
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


LINE_MOST_BYTES = 64 << 10
TEXT_MOST_BYTES = 256 << 20
"""Of a file in which a line stands for a change: what is more has more edges than are read."""


class Lines:
    """The lines of `file`, without their ends. Iterating raises CaptureError for one that is too
    long.

    `unended`: the line that came last has no end, so that the file may have been cut within it.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.unended = False

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(LINE_MOST_BYTES + 1):
            if len(line) > LINE_MOST_BYTES:
                raise CaptureError(f"a line in it has more than {LINE_MOST_BYTES:,} bytes.")
            self.unended = not line.endswith(b"\n")
            yield line.decode("utf-8", errors="replace").strip().lstrip("\ufeff")


def check_count(changes: int) -> None:
    """Raises CaptureError where there are more changes than are read."""
    if changes > MOST_EDGES:
        raise CaptureError(
            f"it has more than {MOST_EDGES:,} edges: an input was probably floating; leave that channel out."
        )


class Changes:
    """What is told of `names`, in the order of time. A level that stays the same is no change."""

    def __init__(self, names: Iterable[str]) -> None:
        self._level: dict[str, bool | None] = dict.fromkeys(names)
        self._initial: dict[str, bool] = {}
        self._ticks = {name: array("q") for name in self._level}
        self._count = 0

    def add(self, name: str, level: bool, tick: int, first: bool = False) -> None:
        """`name` is at `level` from `tick` on; of several at the `first` the last is where it
        begins. Raises CaptureError for one change too many.
        """
        before = self._level[name]
        if before is level:
            return
        self._level[name] = level
        if before is None or first:
            self._initial[name] = level
            return
        self._ticks[name].append(tick)
        self._count += 1
        check_count(self._count)

    def known(self, name: str) -> bool:
        """Whether anything was told of `name` so far."""
        return self._level[name] is not None

    @property
    def initial(self) -> dict[str, bool]:
        """The first level of each; low where nothing was told."""
        return {name: self._initial.get(name, False) for name in self._level}

    def times(self, begin: int) -> dict[str, Ticks]:
        """When each changed, in ticks since `begin`."""
        return {name: np.array(ticks, np.int64) - begin for name, ticks in self._ticks.items()}


# How tools call what sigrok calls D3: Saleae's CSV, its binary files, a bare number.
_DIGITAL = re.compile(r"D([0-9]{1,2})")
_ALIASES = ("Channel {}", "digital_{}", "{}")
_MOST_LISTED = 16
# That are looked up to see which are one net.
_MOST_NAMES = 256

Net = TypeVar("Net", bound=Hashable)


class Selection:
    """The names that a user gave to the file's channels: `names` has ours and the file's.

    None takes those that are called as CHANNELS are; without such, all of a file that has no more
    than eight, under their own names.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        if names is not None and len(names) > MOST_CHANNELS:
            raise CaptureError(
                f"{len(names)} channels are named, and at most {MOST_CHANNELS} are read at a time."
            )
        self._names = names

    def among(self, names: Sequence[str]) -> dict[str, int]:
        """The index in `names` of each channel, those of CHANNELS in their order before the others.

        Raises CaptureError where a channel is not there, or there is none at all.
        """
        return self.nets(lambda wanted: [at for at, name in enumerate(names) if name == wanted], names)[0]

    def nets(
        self, find: Callable[[str], list[Net]], names: Sequence[str]
    ) -> tuple[dict[str, Net], dict[str, str]]:
        """What `find` has for each channel, and the file's name of it. `names` are the file's own.

        Raises CaptureError as among() does.
        """
        chosen = self._names
        if chosen is None:
            chosen = {name: name for name in CHANNELS if find(name)}
        if not chosen and len(names) <= _MOST_NAMES:
            first = {net: name for name in reversed(names) for net in find(name)}
            if len(first) <= MOST_CHANNELS:
                chosen = {name: name for name in names if name in first.values()}
        if not chosen:
            raise CaptureError(
                f"it has {_listed(names)}; say which is which, such as --channels CRIT={_example(names)}."
            )
        order = sorted(chosen, key=lambda name: CHANNELS.index(name) if name in CHANNELS else len(CHANNELS))
        nets: dict[str, Net] = {}
        for name in order:
            several = next(filter(None, map(find, _spellings(chosen[name]))), [])
            if len(several) != 1:
                what = "several channels" if several else "no channel"
                raise CaptureError(f"it has {what} {quoted(chosen[name])}; it has {_listed(names)}.")
            nets[name] = several[0]
        if len(set(nets.values())) != len(nets):
            raise CaptureError("two of the channels that are named are one of the file's.")
        return nets, {name: chosen[name] for name in order}


def _spellings(wanted: str) -> list[str]:
    number = _DIGITAL.fullmatch(wanted)
    return [wanted, *(alias.format(int(number[1])) for alias in _ALIASES if number)]


def by_path(paths: Iterable[str]) -> Callable[[str], list[int]]:
    """Finds the numbers of those `paths` that are a name, or end in it behind a point."""
    every = list(paths)

    def find(name: str) -> list[int]:
        whole = [number for number, path in enumerate(every) if path == name]
        return whole or [number for number, path in enumerate(every) if path.endswith(f".{name}")]

    return find


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no logic channels"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return "the channels " + ", ".join(quoted(name) for name in names[:_MOST_LISTED]) + more


def _example(names: Sequence[str]) -> str:
    return names[0] if names and names[0].isprintable() and len(names[0]) <= 40 else "D0"
