"""The windows that were kept of a capture, as lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from base.microseconds import UNIT, decimals_of, digits, microseconds
from base.run_folder import folder as names
from base.run_folder.edges import NS_PER_S, EdgeList, read_parquet
from base.run_folder.kept import LAST, Place, Window, read_kept
from base.run_folder.observed import ObservedManifest
from dashboards.growing_wire import wave

_MARGIN = 4
"""A picture shows this part of the length on either side of it."""


def lines(manifest: ObservedManifest, folder: Path) -> list[str]:
    """What was looked at and what was kept, a table of the windows, and a picture of each longest.

    Of a capture that was kept whole the pictures alone.
    """
    if manifest.kept is None or manifest.keep is None:
        if not manifest.longest:
            return []
        edges = read_parquet(folder / names.EDGES)
        return [
            line for of, span in manifest.longest.items() for line in _drawn(of, edges, span.start, span.end)
        ]
    duration_s = manifest.total_samples / manifest.samplerate_hz
    kept_s = manifest.kept.kept_samples / manifest.samplerate_hz
    seen = sum(summary.n for summary in manifest.widths_ns.values())
    text = (
        f"Of {duration_s:.6g} s with {seen:,} pulses, {kept_s:.6g} s in {len(manifest.kept.windows)} windows "
        f"were kept: {manifest.keep.around_s * 1e3:g} ms around the {manifest.keep.worst} longest of each."
    )
    rows = [(UNIT, "length", "begins at (s)", "window for PulseView")]
    rows += [_row(place, manifest.samplerate_hz) for place in manifest.kept.windows]
    table = [f"{name:<22}{length:>16}{at:>16}  {file}" for name, length, at, file in rows]
    pictures = [line for window in read_kept(folder).windows for line in _picture(window)]
    return [text, "", *table, "", *pictures]


def _row(place: Place, samplerate_hz: int) -> tuple[str, str, str, str]:
    length_ns = (place.end - place.start) * NS_PER_S / samplerate_hz
    last = place.name == LAST
    name = "the last of all" if last else f"{place.of}, {place.rank}"
    length = "-" if last else digits(length_ns)
    return name, length, f"{place.start / samplerate_hz:.6f}", f"{names.WINDOWS}/{place.name}.sr"


def _picture(window: Window) -> Iterator[str]:
    """The longest of a quantity, drawn in characters; nothing of the others."""
    place, edges = window.place, window.edges
    if place.rank > 1 or place.name == LAST or not edges.sample.size:
        return
    yield from _drawn(place.name, edges, place.start - place.begin, place.end - place.begin)


def _drawn(of: str, edges: EdgeList, start: int, end: int) -> Iterator[str]:
    margin = max((end - start) // _MARGIN, 1)
    first, after = max(start - margin, 0), min(end + margin, edges.total_samples)
    yield f"{of}, {microseconds((after - first) * edges.sample_ns, decimals_of(edges.sample_ns))}:"
    widest = max(map(len, edges.channels))
    for channel in edges.channels:
        yield f"{channel:<{max(widest, 5)}} {wave(edges, channel, first, after)}"
    yield ""
