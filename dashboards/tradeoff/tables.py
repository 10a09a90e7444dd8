"""The page's tables: figures of each allocator, and where each came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.fragmentation.study import Row
from base.run_index import configuration
from dashboards.formatting import MISSING, grouped, samplerate, short
from dashboards.page.templates import TextGrid
from dashboards.tradeoff.needs import (
    Figure,
    Need,
    Run,
    cost_metric_bytes,
    digest,
    johnstone,
    peak_live_bytes,
    sbbm_bytes,
    used_bytes,
)
from scenarios.trace import Trace

Words = Callable[[float | None], str]


def heaps(needs: Sequence[Need]) -> TextGrid:
    """The table of each allocator's heap, beside its worst section."""
    headings = ("allocator", "smallest heap (bytes)", "worst section (µs)", "n", "used (bytes)")
    behind: tuple[Figure, ...] = (used_bytes, peak_live_bytes, _lost_bytes, _static_bytes, _failures)
    return TextGrid(
        "Heap and worst case",
        (*headings, "live (bytes)", "lost (bytes)", "static RAM (bytes)", "refused"),
        tuple(
            _line(
                need,
                (
                    _cell(need, cost_metric_bytes, grouped),
                    *_worst(need),
                    *(_cell(need, metric, grouped) for metric in behind),
                ),
            )
            for need in needs
        ),
    )


def fragmentation(needs: Sequence[Need]) -> TextGrid:
    """The table of lost bytes, by every definition."""
    headings = ("allocator", "F (%)", "1: mean", "2: at peak live", "3: at peak used", "4: peaks")
    ratios = tuple(johnstone(place) for place in range(4))
    return TextGrid(
        "Fragmentation",
        (*headings, "SBBM (bytes)", "F in the smallest heap (%)", "SBBM there (bytes)"),
        tuple(
            _line(
                need,
                (
                    _cell(need, _percent, _two),
                    *(_cell(need, ratio, _three) for ratio in ratios),
                    _cell(need, sbbm_bytes, grouped),
                    _cell(need, _percent_there, _two),
                    _cell(need, _sbbm_there, grouped),
                ),
            )
            for need in needs
        ),
    )


def traces(studied: Sequence[Trace]) -> TextGrid:
    """The table of replayed traces."""
    return TextGrid(
        "Traces",
        ("trace", "seed", "operations", "SHA-256 of its operations"),
        tuple(
            (
                trace.name,
                MISSING if trace.seed is None else f"{trace.seed:#x}",
                f"{len(trace.operations):,}",
                digest(trace),
            )
            for trace in studied
        ),
    )


def runs(given: Sequence[Run]) -> TextGrid:
    """The table of runs and their worst sections."""
    return TextGrid(
        "Runs",
        (
            "run",
            "allocator",
            "worst section (µs)",
            "of",
            "n",
            "board",
            "heap (bytes)",
            "refused",
            "sampled at",
        ),
        tuple(_run(run) for run in given),
    )


def _run(run: Run) -> tuple[str, ...]:
    manifest = run.loaded.manifest
    core = manifest.firmware.core_hz
    return (
        run.loaded.id,
        configuration(manifest),
        f"{short(run.worst_ns, 'ns')} {_budget(run)}".rstrip(),
        run.kind,
        f"{run.n:,}",
        f"{manifest.board}, core {core / 1e6:g} MHz" if core else manifest.board,
        grouped(manifest.firmware.heap_bytes),
        grouped(manifest.counts.out_of_memory),
        samplerate(manifest.samplerate_hz),
    )


def _worst(need: Need) -> tuple[str, str]:
    if not need.runs:
        return MISSING, MISSING
    worst = need.runs[0]
    several = f", worst of {len(need.runs)} runs" if len(need.runs) > 1 else ""
    return f"{short(worst.worst_ns, 'ns')} {_budget(worst)} {worst.kind}", f"{worst.n:,}{several}"


def _budget(run: Run) -> str:
    return "" if run.budget_ns is None else f"± {short(run.budget_ns, 'ns')}"


def _line(need: Need, cells: tuple[str, ...]) -> tuple[str, ...]:
    return (need.label, *cells)


def _cell(need: Need, figure: Figure, words: Words) -> str:
    """The median, and the range where there is one. A figure that some traces lack says so."""
    values = need.values(figure)
    if len(values) < len(need.rows):
        return f"{MISSING} {len(values)} of {len(need.rows)}" if values else MISSING
    least, most = words(min(values)), words(max(values))
    return words(need.typical(figure)) + ("" if least == most else f" ({least}…{most})")


def _two(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.2f}"


def _three(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.3f}"


def _lost_bytes(row: Row) -> float:
    return row.given.used_bytes - row.given.peak_live_bytes


def _static_bytes(row: Row) -> float:
    return row.static_ram_bytes


def _failures(row: Row) -> float:
    return row.given.failures


def _percent(row: Row) -> float | None:
    return row.given.fragmentation_percent


def _percent_there(row: Row) -> float | None:
    return row.fragmentation_there_percent


def _sbbm_there(row: Row) -> float | None:
    return row.sbbm_there_bytes
