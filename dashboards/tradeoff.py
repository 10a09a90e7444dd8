"""The page of `./lab heap fragmentation`: the memory that each allocator needs for the traces,
beside the worst critical section of their runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from math import inf
from pathlib import Path
from statistics import median_low
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.fragmentation.study import Row, Study, notes
from base.files.errors import RunError
from base.run_folder import folder as names
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL
from base.text_table import TextTable
from capture.acquisition.stored import decode_image
from dashboards.blocks import Chart
from dashboards.figures.chart import Y_US, in_us, per_series, style
from dashboards.formatting import MISSING, grouped, microseconds, samplerate, short
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import INK, MUTED, Style, assign_styles, by_scenario, caveats
from dashboards.page.templates import Sheet
from firmware.build import catalogue
from scenarios.generator import Step
from scenarios.operations import Mark, body_crc32
from scenarios.trace import Trace, of_steps

_HEIGHT_PX = 480
_NUMBERS = range(1, 9)
_WORST = {"allocation": CRITICAL, "free": FREE_CRITICAL}
_SMALLEST, _USED, _REFUSED = "smallest heap (bytes)", "used (bytes)", "refused"
_HEAPS = dict.fromkeys((_SMALLEST, _USED, "live (bytes)", "lost (bytes)", "static RAM (bytes)", _REFUSED))
_FRAGMENTATION = {
    "F (%)": 2,
    **dict.fromkeys(("1: mean", "2: at peak live", "3: at peak used", "4: peaks"), 3),
    "SBBM (bytes)": None,
    "F in the smallest heap (%)": 2,
    "SBBM there (bytes)": None,
}
"""The figures of a row as the tables head them, and their decimals; without, as they are."""


@dataclass(frozen=True)
class Run:
    """A complete run of trace number `trace`.

    `worst_ns` is its longest critical section on the wire, among `n` measured allocations and
    frees: an "allocation" or a "free", as `kind` says. It is true to plus or minus `budget_ns`,
    None if the run does not tell.
    """

    loaded: LoadedRun
    trace: int
    worst_ns: float
    kind: str
    n: int
    budget_ns: float | None

    @property
    def allocator(self) -> str:
        return self.loaded.manifest.allocator

    @property
    def words(self) -> str:
        """Its worst section, with the error."""
        budget = "" if self.budget_ns is None else f" ± {short(self.budget_ns, 'ns')}"
        return f"{short(self.worst_ns, 'ns')}{budget}"


def load(folders: Sequence[Path], traces: Sequence[Trace], knobs: Mapping[str, int]) -> list[Run]:
    """The runs in `folders`, of allocators built with these `knobs`.

    Raises RunError for one that is not complete, ran none of `traces`, was built with other knobs
    or measured nothing, and CaptureError for one whose operation image cannot be read.
    """
    digests = [digest(trace) for trace in traces]
    return [_load(folder, digests, knobs) for folder in dict.fromkeys(path.resolve() for path in folders)]


def digest(trace: Trace) -> str:
    """SHA-256 of the operations: kind, slot, size and alignment, each a little-endian u32.

    Slots are numbered anew in a trace, so the same operations have the same digest wherever they
    come from.
    """
    return sha256(trace.operations.astype("<u4").tobytes()).hexdigest()


def _load(folder: Path, digests: Sequence[str], knobs: Mapping[str, int]) -> Run:
    loaded = load_run(folder)
    manifest = loaded.manifest
    if not manifest.complete:
        raise RunError(f"{loaded.id} is {manifest.verdict}, so its figures do not count; run it again.")
    # Both must have been built alike, or the figures are not of one allocator.
    allocator = catalogue.allocators().get(manifest.allocator)
    defaults = allocator.knobs if allocator else {}
    options = {name: str(value) for name, value in knobs.items() if defaults.get(name, value) != value}
    if manifest.turned_knobs != options:
        ran, replayed = (
            " ".join(f"{name}={value}" for name, value in sorted(turned.items()))
            or "every knob at its default"
            for turned in (manifest.turned_knobs, options)
        )
        raise RunError(f"{loaded.id} ran with {ran}, and the replay has {replayed}; give both the same.")
    # The heap operations of the run's image, which must be the one that the run checked.
    image = names.read_observed(loaded.folder, names.IMAGE)
    operations = decode_image(image).operations
    if f"{body_crc32(image):08X}" != manifest.image_crc32:
        raise RunError(
            f"{loaded.id}: {names.IMAGE} is not the image of this run, by its CRC-32; restore the file."
        )
    steps = (Step(operation) for operation in operations if not isinstance(operation, Mark))
    executed = digest(of_steps(loaded.id, steps))
    if executed not in digests:
        raise RunError(
            f"{loaded.id} did not run the trace that is replayed here; "
            "name runs of the same scenario, parameters and seed."
        )
    summaries = {kind: loaded.summary(quantity) for kind, quantity in _WORST.items()}
    longest = {kind: summary.max for kind, summary in summaries.items() if summary.max is not None}
    if not longest:
        raise RunError(f"{loaded.id} measured no critical section; leave it out.")
    kind = max(longest, key=lambda longest_kind: longest[longest_kind])
    n, budget_ns = sum(summary.n for summary in summaries.values()), loaded.budget(_WORST[kind])
    return Run(loaded, digests.index(executed), longest[kind], kind, n, budget_ns)


class Need(NamedTuple):
    """One allocator. `rows` are the figures of the traces, in their order; `runs` the longest
    section first.

    `number` counts the allocators from 1, in the order in which the page has them.
    """

    number: int
    name: str
    style: Style
    rows: Sequence[Mapping[str, float | None]]
    runs: Sequence[Run]

    @property
    def label(self) -> str:
        return f"{self.number} {self.name}"

    def values(self, figure: str) -> list[float]:
        """The values of the traces that have the figure."""
        return [value for row in self.rows if (value := row[figure]) is not None]

    def typical(self, figure: str) -> float | None:
        """The median that occurred over the traces, None where a trace lacks the figure."""
        values = self.values(figure)
        return median_low(values) if len(values) == len(self.rows) else None

    def cell(self, figure: str, decimals: int | None) -> str:
        """The median, and the range where there is one. A figure that some traces lack says so."""
        values, typical = self.values(figure), self.typical(figure)
        if typical is None:
            return f"{MISSING} {len(values)} of {len(self.rows)}" if values else MISSING
        words, least, most = (
            grouped(value) if decimals is None else f"{value:,.{decimals}f}"
            for value in (typical, min(values), max(values))
        )
        return words + ("" if least == most else f" ({least}…{most})")


def _figures(row: Row) -> dict[str, float | None]:
    given = row.given
    values = (
        *(row.cost_metric.smallest_bytes, given.used_bytes, given.peak_live_bytes),
        *(given.used_bytes - given.peak_live_bytes, row.static_ram_bytes, given.failures),
        *(given.fragmentation_percent, *(given.johnstone or [None] * 4), given.sbbm_bytes),
        *(row.fragmentation_there_percent, row.sbbm_there_bytes),
    )
    return dict(zip((*_HEAPS, *_FRAGMENTATION), values, strict=True))


def gather(rows: Sequence[Row], runs: Sequence[Run]) -> list[Need]:
    """The allocators that were replayed, the smallest heap first."""
    groups = {name: [*map(_figures, group)] for name, group in groupby(rows, key=lambda row: row.allocator)}
    styles, ordered = assign_styles(groups), sorted(runs, key=lambda run: -run.worst_ns)

    def place(need: Need) -> tuple[float, float | None, str]:
        smallest = need.typical(_SMALLEST)
        return inf if smallest is None else smallest, need.typical(_USED), need.name

    needs = (
        Need(0, name, styles[name], group, [run for run in ordered if run.allocator == name])
        for name, group in groups.items()
    )
    return [need._replace(number=number) for number, need in enumerate(sorted(needs, key=place), start=1)]


class Point(NamedTuple):
    """A run of an allocator in the trade-off, and the heap that its trace needs."""

    need: Need
    heap_bytes: float
    run: Run


def _across(needs: Sequence[Need]) -> tuple[str, str]:
    """The figure on the x axis and its title: the smallest heap, or used bytes without one."""
    if any(need.typical(_SMALLEST) is not None for need in needs):
        return _SMALLEST, "smallest heap that serves all requests (bytes)"
    return _USED, "used bytes in the given heap"


def points(needs: Sequence[Need]) -> list[Point]:
    """A point for each run, at the heap that its own trace needs."""
    figure, _ = _across(needs)
    return [
        Point(need, heap, run)
        for need in needs
        for run in need.runs
        if (heap := need.rows[run.trace][figure]) is not None
    ]


def best_of(points: Sequence[Point]) -> list[Point]:
    """The points that no other beats in both: less heap means a longer section there."""
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.heap_bytes, point.run.worst_ns)):
        if not best or point.run.worst_ns < best[-1].run.worst_ns:
            best.append(point)
    return best


def _chart(needs: Sequence[Need], all_points: Sequence[Point], provenance: str) -> Chart:
    """Heap needed against the worst critical section, each point with the number that its name has
    in the tables.
    """
    best, (_, across) = best_of(all_points), _across(needs)
    looks = [point.need.style for point in all_points]
    figure = go.Figure(
        [
            go.Scatter(
                x=[point.heap_bytes for point in best],
                y=in_us([point.run.worst_ns for point in best]),
                mode="lines",
                line_color=MUTED,
                line_dash="dot",
                line_width=1.5,
                line_shape="hv",
                hoverinfo="skip",
            ),
            go.Scatter(
                x=[point.heap_bytes for point in all_points],
                y=in_us([point.run.worst_ns for point in all_points]),
                mode="markers+text",
                text=[str(point.need.number) for point in all_points],
                textposition="top right",
                textfont_size=11,
                textfont_color=INK,
                marker_size=9,
                marker_color=[look.colour for look in looks],
                marker_symbol=[look.symbol for look in looks],
                cliponaxis=False,
                customdata=[(point.need.label, point.run.kind) for point in all_points],
                hovertemplate="<b>%{customdata[0]}</b><br>heap %{x:,} bytes<br>worst %{customdata[1]} "
                f"{Y_US}<extra></extra>",
            ),
        ]
    )
    style(figure, _HEIGHT_PX, across, "worst critical section (µs)")
    figure.update_layout(showlegend=False, xaxis_type="log")
    listed = ", ".join(dict.fromkeys(point.need.label for point in best))
    explanation = (
        "Down and to the left is better. A number is the place of its allocator in the tables. The worst "
        "is the longest critical section on the wire of a measured allocation or free. The dotted line joins "
        f"those that no other beats in both: {listed}."
    )
    drawn = {point.need.name for point in all_points}
    if absent := [need.label for need in needs if need.name not in drawn]:
        explanation += f" Not in the figure, for want of a run or of a heap that serves: {', '.join(absent)}."
    counted = per_series([point.run.n for point in all_points], "allocations and frees")
    subtitle = f"{len(all_points)} runs, {counted} · {provenance}"
    return Chart("tradeoff", "Heap against worst case", subtitle, explanation, figure)


def _tables(study: Study, needs: Sequence[Need], runs: Sequence[Run]) -> Iterator[TextTable]:
    for title, figures in (("Heap", _HEAPS), ("Fragmentation", _FRAGMENTATION)):
        lines = [(need.label, *(need.cell(*figure) for figure in figures.items())) for need in needs]
        yield TextTable(title, ("allocator", *figures), lines, _NUMBERS)
    traces = [
        (
            trace.name,
            MISSING if trace.seed is None else f"{trace.seed:#x}",
            f"{len(trace.operations):,}",
            digest(trace),
        )
        for trace in study.traces
    ]
    yield TextTable("Traces", ("trace", "seed", "operations", "SHA-256 of its operations"), traces)
    if runs:
        of_runs = [
            (
                *(run.loaded.id, run.loaded.configuration, run.words, run.kind, f"{run.n:,}"),
                run.loaded.manifest.board,
                grouped(run.loaded.manifest.firmware.heap_bytes),
                grouped(run.loaded.manifest.counts.out_of_memory),
                samplerate(run.loaded.manifest.samplerate_hz),
            )
            for run in runs
        ]
        headings = (
            *("run", "allocator", "worst section (µs)", "of", "n"),
            *("board", "heap (bytes)", "refused", "sampled at"),
        )
        yield TextTable("Runs", headings, of_runs, _NUMBERS)


def sheet(study: Study, rows: Sequence[Row], runs: Sequence[Run]) -> Sheet:
    """The page on `rows`, which `study` gave, and `runs` of its traces. The same rows and runs give
    the same text.
    """
    needs, first = gather(rows, runs), study.traces[0]
    seeds = ", ".join(f"{trace.seed:#x}" for trace in study.traces if trace.seed is not None) or "none"
    knobs = "".join(f" · {name}={value}" for name, value in sorted(study.knobs.items()))
    provenance = (
        f"{first.name}, {len(first.operations):,} operations, seeds: {seeds} · replayed on the PC in a heap "
        f"of {study.heap_bytes:,} bytes{knobs} · sources below"
    )
    headline = f"{first.name} on {len(needs)} allocators, in a heap of {study.heap_bytes:,} bytes."
    all_points = points(needs)
    if best := best_of(all_points):
        least, shortest = (
            f"{point.need.name}, {point.heap_bytes:,} bytes and {microseconds(point.run.worst_ns)}"
            for point in (best[0], best[-1])
        )
        headline += f" Of those that ran, the least heap: {least}. The shortest worst section: {shortest}."
    failures = {need.name: sum(need.values(_REFUSED)) for need in needs}
    lock_caveats = caveats(
        [member for series in by_scenario([run.loaded for run in runs]).values() for member in series]
    )
    remarks = [
        *(
            f"{name} refused {count:,} requests in the given heap: what it used says "
            "little, for less was live."
            for name, count in failures.items()
            if count
        ),
        *(
            f"{run.allocator} was not replayed, so it is in no figure; its worst critical section was "
            f"{microseconds(run.worst_ns)} ({run.loaded.id})."
            for run in runs
            if run.allocator not in failures
        ),
        *([lock_caveats] if lock_caveats else []),
        *notes(rows),
    ]
    return Sheet(
        "Tailscope: heap and worst case",
        headline,
        remarks,
        [_chart(needs, all_points, provenance)] if all_points else [],
        [*_tables(study, needs, runs)],
        "The number before a name is its place by the smallest heap. Of several traces the median that "
        "occurred, and beside it the range. ± is the error budget of the value. n counts the measured "
        "allocations and frees of the run. Heap figures are of a replay of the trace on the PC, on the "
        "sources that the firmware links; worst sections are of the wire, of runs whose operation image has "
        "the same operations. docs/how-to/fragmentation.md defines each figure.",
    )
