"""A capture of which only windows were kept: `kept.parquet` (docs/how-to/observe.md).

It has the windows' edges, and how often each width, interval and latency of the whole capture
occurred.

A row of a histogram: *part* `width`, `interval` or `latency`, *name* of the channel or the pair,
*at* the length in samples, *value* how often it occurred. A row of a window: *part* `window`, its
*name*, *at* the sample in the window, *value* the word from there on, as in
docs/reference/edges.md. The metadata has the samplerate, the samples of the capture and those asked
for, the channels with their number of edges, level at the end and the begin of a pulse under way,
merged stimuli and open waits, the windows' places, and of each histogram its bin, least and
greatest value. It has at most 2⁴² samples. Frames are not looked for: *frames* are null, *clock*
too, and `calibration_ns` is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from pydantic import Field, InstanceOf

from ..files.documents import Table, Texts
from ..files.errors import CaptureError, TailscopeError
from ..files.whole import write_whole
from ..metrology.tally import MOST_VALUES, Counted
from . import folder as names
from .edges import MOST_EDGES, NS_PER_S, EdgeList, Samples, Words
from .manifest import Samplerate
from .named_quantities import MOST_WORST
from .tables import read_metadata, read_table, write_table

MOST_KEPT_SAMPLES = 1 << 42
"""Of a capture of which only windows are kept: 50 hours at 24 MS/s."""
MOST_WINDOW_SAMPLES = 1 << 30
"""PulseView takes a byte and more of memory for each."""
LAST = "end"
"""The name of the window at the end of the capture."""

Quantity = tuple[str, str]
"""width, interval or latency; and of which channel, or of which `STIM to ISR`."""

_WINDOW = "window"
_COLUMNS = pl.Schema({"part": pl.String, "name": pl.String, "at": pl.UInt64, "value": pl.UInt64})
_MOST_ROWS = MOST_EDGES + 16 * MOST_VALUES
_Place = Annotated[int, Field(ge=0, le=MOST_KEPT_SAMPLES)]
Rank = Annotated[int, Field(ge=1, le=MOST_WORST)]


class PinEnd(Table):
    """A channel over the whole capture: its edges, and its level at the end.

    `since` is the sample at which the pulse under way began; null without one.
    """

    edges: _Place
    high: bool
    since: _Place | None


def window_name(of: str, rank: int) -> str:
    """What the window around the `rank`-th longest of a quantity is called."""
    return f"{of.replace(' ', '-')}-{rank}"


class Place(Table):
    """Where a window lies, in samples of the capture.

    It is around the `rank`-th longest of the `kind` and `of` that are named, which lasted from
    `start` to `end`. It was kept from `begin` up to but not including `until`. Where `cut`, it
    begins later than was asked, since it has too many edges or samples.
    """

    name: str
    kind: str
    of: str
    rank: Rank
    start: _Place
    end: _Place
    begin: _Place
    until: _Place
    cut: bool


@dataclass(frozen=True, eq=False)
class Window:
    """A window: its place, and its edges, which count from `place.begin`."""

    place: Place
    edges: EdgeList


class _Facts(Table):
    """All of a kept capture that is no row of its table."""

    schema_: Literal[1] = 1
    samplerate_hz: Samplerate
    total_samples: _Place
    asked_samples: _Place
    channels: Texts
    worst: Rank
    around_samples: _Place
    pins: dict[str, PinEnd]
    merged: dict[str, _Place]
    waiting: dict[str, _Place]


class Kept(_Facts):
    """What is left of a capture, and what was counted of all of it.

    `around_samples` were to be kept on either side of the `worst` longest of each quantity.
    `merged` counts the stimuli that came while an earlier one waited, and `waiting` is where the
    waits began that were not over at the end; both by the names of the latencies.
    """

    counted: dict[Quantity, InstanceOf[Counted]]
    windows: tuple[InstanceOf[Window], ...]

    @property
    def sample_ns(self) -> float:
        """How long a sample lasts, at the nominal samplerate."""
        return NS_PER_S / self.samplerate_hz

    @property
    def open_samples(self) -> dict[str, int]:
        """How long the waits that were not over had lasted at the end."""
        return {name: self.total_samples - since for name, since in self.waiting.items()}


class _Tallied(Table):
    part: str
    name: str
    bin: Annotated[int, Field(ge=1, le=MOST_KEPT_SAMPLES)]
    least: _Place | None
    greatest: _Place | None


class _Description(_Facts):
    """The metadata of kept.parquet."""

    counted: list[_Tallied]
    windows: list[Place]


def write_kept(path: Path, capture: Kept) -> None:
    """Writes kept.parquet, whole or not at all. Equal captures give equal bytes.

    Raises WriteError.
    """
    counted = [
        _Tallied(part=kind, name=name, bin=tally.bin, least=tally.least, greatest=tally.greatest)
        for (kind, name), tally in capture.counted.items()
    ]
    places = [window.place for window in capture.windows]
    metadata = _Description(**_facts(capture), counted=counted, windows=places).model_dump(by_alias=True)
    frames = [
        *(_rows(*quantity, tally.values, tally.counts) for quantity, tally in capture.counted.items()),
        *(_rows(_WINDOW, of.place.name, of.edges.sample, of.edges.word) for of in capture.windows),
    ]
    frame = pl.concat([pl.DataFrame(schema=_COLUMNS), *frames])
    write_whole(path, lambda temporary: write_table(temporary, frame, metadata, statistics=False))


def _rows(part: str, name: str, at: Samples, value: Samples | Words) -> pl.DataFrame:
    return pl.DataFrame({"part": part, "name": name, "at": at, "value": value}, _COLUMNS)


def _facts(of: _Facts) -> dict[str, Any]:
    return of.model_dump(by_alias=True, exclude={"counted", "windows"})


def read_kept(folder: Path) -> Kept:
    """Reads the kept.parquet of the run in `folder`. Raises TailscopeError."""
    path = folder / names.KEPT
    table = read_table(path, _COLUMNS, _MOST_ROWS)
    description = read_metadata(path, _Description, CaptureError)
    parts = table.partition_by("part", "name", as_dict=True)

    def rows(part: str, name: str) -> tuple[Any, Any]:
        of_part = parts.get((part, name), table.clear())
        return of_part["at"].to_numpy(), of_part["value"].to_numpy()

    try:
        if set(description.pins) != set(description.channels):
            raise CaptureError("its pins are not its channels; restore the file.")
        counted = {
            (tally.part, tally.name): _counted(tally, *rows(tally.part, tally.name))
            for tally in description.counted
        }
        windows = tuple(
            _window(description, place, *rows(_WINDOW, place.name)) for place in description.windows
        )
        return Kept(**_facts(description), counted=counted, windows=windows)
    except TailscopeError as error:
        raise CaptureError(f"{path} is not a usable capture: {error}") from None


def _counted(tally: _Tallied, values: Samples, counts: Samples) -> Counted:
    most = max(int(part.max(initial=0)) for part in (values, counts))
    increasing = not (values[1:] <= values[:-1]).any()
    whole = (tally.least is None) == (tally.greatest is None) == (not values.size)
    if most > MOST_KEPT_SAMPLES or not increasing or not whole or not counts.all():
        raise CaptureError(f"its counts of {tally.name} are damaged; restore the file.")
    return Counted(values.astype(np.int64), counts.astype(np.int64), tally.bin, tally.least, tally.greatest)


def _window(description: _Description, place: Place, sample: Samples, word: Words) -> Window:
    within = place.begin <= place.until <= description.total_samples and place.start <= place.end
    if not within or Path(place.name).name != place.name:
        raise CaptureError("a window lies outside the capture; restore the file.")
    length, hz = place.until - place.begin, description.samplerate_hz
    return Window(place, EdgeList(sample, word, hz, length, description.channels))
