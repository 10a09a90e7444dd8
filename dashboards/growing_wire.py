"""The wire of a capture under way: its last edges, and the tail as it grows."""

from __future__ import annotations

from base.metrology.summaries import Summary
from base.run_folder.edges import EdgeList
from capture.reading.counter import Growing

_EDGES_SHOWN = 24


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


def _window(rows: EdgeList) -> tuple[int, int]:
    """The samples of the last edges, with a little before and behind."""
    begin = int(rows.sample[max(rows.sample.size - _EDGES_SHOWN, 0)]) if rows.sample.size else 0
    end = int(rows.sample[-1]) if rows.sample.size else 0
    around = max((end - begin) // 16, 1)
    return max(begin - around, 0), min(end + around, rows.total_samples)
