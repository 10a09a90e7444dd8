"""A wire for the terminal: what was observed, and a capture under way."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from base.microseconds import UNIT, decimals_of, digits, microseconds
from base.run_folder import folder as names
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NOT
from base.run_folder.kept import LAST
from base.run_folder.observed import ObservedManifest, read_observed_manifest
from capture.reading.counter import Growing
from dashboards.growing_wire import picture

_RATE_FROM = {
    "file": "as the file states",
    "option": "as given",
    "resolution": "the resolution of the file's times",
}
_SHOWN = ("min", "median", "p99", "max")


def lines(manifest: ObservedManifest) -> list[str]:
    """A heading, a line for each of the summaries with the place of its longest, and a line for
    each channel on its periods. The digits follow the resolution.
    """
    decimals = decimals_of(manifest.resolution_ns)
    rows: list[tuple[str, ...]] = [(UNIT, "n", *_SHOWN, "longest at (s)" if manifest.longest else "")]
    for title, part in (
        (", width", manifest.widths_ns),
        (", begin to begin", manifest.intervals_ns),
        ("", manifest.latencies_ns),
        (", empty section", manifest.calibration_ns),
    ):
        for name, summary in part.items():
            values = [getattr(summary, statistic) for statistic in _SHOWN]
            *others, greatest = ("-" if value is None else digits(value, decimals) for value in values)
            row = f"{name}{title}"
            span = manifest.longest.get(row)
            place = f"{span.start / manifest.samplerate_hz:.{decimals + 6}f}" if span else ""
            rows.append((row, f"{summary.n:,}", *others, summary.at_least + greatest, place))
    widest = max(22, *(len(first) for first, *_ in rows))
    table = [
        (f"{first:<{widest}}" + "".join(f"{cell:>16}" for cell in cells)).rstrip() for first, *cells in rows
    ]
    return table + [
        f"{name.removeprefix(NOT)}: {'low' if name.startswith(NOT) else 'high'} {duty:.2%} of its periods, "
        f"which differ by {microseconds(gap.max - gap.min, decimals)}."
        for name, duty in manifest.duty.items()
        if (gap := manifest.intervals_ns[name]).max is not None and gap.min is not None
    ]


def show(folder: Path, as_json: bool) -> None:
    """Prints what was observed: run.json and the folder that it is in; or as text a table, what was
    kept, what to know of it, the verdict, last the folder.
    """
    manifest = read_observed_manifest(folder / names.MANIFEST)
    if as_json:
        document = {"folder": str(folder), **manifest.model_dump(mode="json", by_alias=True)}
        print(json.dumps(document, indent=2))
        return
    unsure = manifest.unjudged and manifest.verdict == "complete"
    verdict = f"{manifest.verdict}, as far as the wire tells" if unsure else manifest.verdict
    sentences = [*manifest.reasons, *manifest.unjudged]
    print(
        _heading(manifest),
        "",
        *lines(manifest),
        "",
        *_windows(manifest),
        *manifest.missing,
        *manifest.warnings,
        " ".join([f"{verdict}:" if sentences else verdict, *sentences]),
        folder,
        sep="\n",
    )


def _heading(manifest: ObservedManifest) -> str:
    source = f"{manifest.program.elf or 'what was on the board'} on {manifest.board}"
    rate = ""
    if file := manifest.imported:
        source, rate = f"{file.file} ({file.format})", f" ({_RATE_FROM[file.samplerate_from]})"
    pins = ", ".join(f"{channel} on {pin}" for channel, pin in manifest.pins.items())
    clock = ""
    if manifest.clock:
        ppm, unsure_ppm = (manifest.clock.ratio - 1) * 1e6, manifest.clock.ratio_uncertainty * 1e6
        clock = f" By the frames its clock is off the board's by {ppm:+.0f} ppm (to {unsure_ppm:.0f})."
    resolution = microseconds(manifest.resolution_ns, decimals_of(manifest.resolution_ns))
    return (
        f"{source}: {manifest.total_samples:,} samples at {manifest.samplerate_hz:,} Hz{rate}, "
        f"{manifest.total_samples / manifest.samplerate_hz:.6g} s; {pins}. Each edge is known to a sample of "
        f"{resolution}.{clock}"
    )


def _windows(manifest: ObservedManifest) -> Iterator[str]:
    """What was looked at and what was kept, and a table of the windows; nothing of a capture that
    was kept whole.
    """
    hz = manifest.samplerate_hz
    if manifest.kept is None or manifest.keep is None:
        return
    seen = sum(summary.n for summary in manifest.widths_ns.values())
    length_s, kept_s = manifest.total_samples / hz, manifest.kept.kept_samples / hz
    yield (
        f"Of {length_s:.6g} s with {seen:,} pulses, {kept_s:.6g} s in {len(manifest.kept.windows)} windows "
        f"were kept: {manifest.keep.around_s * 1e3:g} ms around the {manifest.keep.worst} longest of each."
    )
    yield ""
    yield f"{UNIT:<22}{'length':>16}{'begins at (s)':>16}  window for PulseView"
    for place in manifest.kept.windows:
        name, length = f"{place.of}, {place.rank}", digits((place.end - place.start) * 1e9 / hz)
        if place.name == LAST:
            name, length = "the last of all", "-"
        yield f"{name:<22}{length:>16}{place.start / hz:>16.6f}  {names.WINDOWS}/{place.name}.sr"
    yield ""


EVERY_S = 0.5, 5.0
"""Between two pictures: on a terminal, where they take the place of each other, and elsewhere."""


@contextmanager
def live(growing: Growing) -> Iterator[Callable[[NewEdges], None]]:
    """What counts edges as they come, and draws what `growing` shows on standard error."""
    drawn = Live(console=Console(stderr=True, highlight=False), transient=True)
    on_terminal = drawn.console.is_terminal
    due_s = 0.0

    def show() -> None:
        if on_terminal:
            drawn.update(Group(*map(Text, picture(growing))))
        else:
            print(*picture(growing), sep="\n", file=sys.stderr, flush=True)

    def count(new: NewEdges) -> None:
        nonlocal due_s
        growing.add(new)
        if (now_s := time.monotonic()) >= due_s:
            due_s = now_s + EVERY_S[not on_terminal]
            show()

    try:
        with drawn if on_terminal else nullcontext():
            yield count
    finally:
        if not on_terminal:
            show()
