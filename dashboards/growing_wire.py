"""The wire of a capture under way: its last edges, as text or drawn, and the tail as it grows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from base.metrology.summaries import Summary
from base.microseconds import digits, microseconds
from base.run_folder.edges import EdgeList
from capture.reading.counter import Growing
from capture.reading.vectorised import high_within, level_at

_COLUMNS = 64
_EDGES_SHOWN = 24
_SHOWN = {"median": "1 in 2", "p90": "1 in 10", "p99": "1 in 100", "p99_9": "1 in 1,000"}
_SHOWN |= {"p99_99": "1 in 10,000", "max": "longest"}
_HIGH, _LOW, _BOTH = "▆", "▁", "│"


def picture(growing: Growing) -> list[str]:
    """The lines of a picture: the last edges of each channel, and a row for each tail."""
    recent = growing.recent
    if recent is None:
        return ["no sample yet"]
    base, rows = recent
    first, last = _window(rows)
    width = microseconds((last - first) * rows.sample_ns)
    begin_s = (base + first) / rows.samplerate_hz
    lines = [f"{captured(growing)}; the last edges, {width} from {begin_s:.6f} s on", ""]
    lines += [f"{name:<6}{wave(rows, name, first, last)}" for name in rows.channels]
    return [*lines, "", *tails(figures(growing))]


def traces(growing: Growing) -> dict[str, str]:
    """The last edges of each channel as the path of an SVG, `M0 2H31.5V18H1000`: x from 0 to 1000
    over one time for all, y 2 where high and 18 where low. Empty before the first sample.
    """
    if growing.recent is None:
        return {}
    _, rows = growing.recent
    first, last = _window(rows)
    drawn = {}
    for name in rows.channels:
        changes = rows.transitions(name)
        inside = (changes.sample > first) & (changes.sample < last)
        x = (changes.sample[inside] - first) * 1_000 / max(last - first, 1)
        y = 18 - 16 * changes.level[inside]
        begin = 18 - 16 * level_at(rows, name, np.array([first]))[0]
        steps = "".join(f"H{at:.1f}V{to}" for at, to in zip(x, y, strict=True))
        drawn[name] = f"M0 {begin}{steps}H1000"
    return drawn


def figures(growing: Growing) -> dict[str, Summary]:
    """The statistics of each pulse and latency so far, in ns."""
    widths = {f"{name}, width": summary for name, summary in growing.widths_ns().items()}
    return widths | growing.latencies_ns()


def captured(growing: Growing) -> str:
    """`3.2 s captured`."""
    recent = growing.recent
    if recent is None:
        return "no sample yet"
    base, rows = recent
    return f"{(base + rows.total_samples) / rows.samplerate_hz:.1f} s captured"


def tails(figures: Mapping[str, Summary]) -> list[str]:
    """A heading, and a line a quantity: how long one in so many took, or longer."""
    cells = [("µs", "n", *_SHOWN.values())]
    for name, summary in figures.items():
        values = [getattr(summary, key) for key in _SHOWN]
        texts = ["-" if value is None else digits(value) for value in values]
        texts[-1] = summary.at_least + texts[-1]
        cells.append((name, f"{summary.n:,}", *texts))
    return [f"{name:<14}" + "".join(f"{cell:>12}" for cell in row) for name, *row in cells]


def wave(rows: EdgeList, channel: str, first: int, last: int, columns: int = _COLUMNS) -> str:
    """The levels of a channel from sample `first` to before `last`, a character for equal parts.

    A part in which it was both high and low has a line of its own.
    """
    bounds = np.linspace(first, last, columns + 1).astype(np.int64)
    begin, end = bounds[:-1], np.maximum(bounds[1:] - 1, bounds[:-1])
    high = high_within(rows, channel, begin, end)
    changed = np.searchsorted(rows.transitions(channel).sample, begin, side="right")
    until = np.searchsorted(rows.transitions(channel).sample, end, side="right")
    low = ~level_at(rows, channel, begin) | (until > changed)
    return "".join(_BOTH if h and lo else _HIGH if h else _LOW for h, lo in zip(high, low, strict=True))


def _window(rows: EdgeList) -> tuple[int, int]:
    """The samples of the last edges, with a little before and behind."""
    begin = int(rows.sample[max(rows.sample.size - _EDGES_SHOWN, 0)]) if rows.sample.size else 0
    end = int(rows.sample[-1]) if rows.sample.size else 0
    around = max((end - begin) // 16, 1)
    return max(begin - around, 0), min(end + around, rows.total_samples)
