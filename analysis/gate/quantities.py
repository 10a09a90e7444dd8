"""The words of the command line for what is judged, and where run.json has it."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.gate.baseline import Statistics
from analysis.gate.outcome import Check
from analysis.metrology.quantiles import Summary
from capture.run_folder.named_quantities import ALLOCATE, FREE, INTERRUPT, TASK
from capture.run_folder.quantities import DWT_CYCLES, FREE_DWT_CYCLES

SECTIONS_NS = {one.name: one.key for one in (ALLOCATE, FREE)}
SECTIONS_CYCLES = {ALLOCATE.name: DWT_CYCLES.key, FREE.name: FREE_DWT_CYCLES.key}
LATENCIES = {one.name: one.key for one in (INTERRUPT, TASK)}
STATISTICS = ("mean", "median", "p99", "p99_9", "max")


def told_of(summary: Summary | None) -> dict[str, float | int]:
    """The statistics that a run has of a quantity, by name."""
    if summary is None or not summary.n:
        return {}
    every: Mapping[str, float | int | None] = {name: getattr(summary, name) for name in STATISTICS}
    return {name: value for name, value in every.items() if value is not None}


def latency_check(word: str, before: Statistics | None, summary: Summary | None, unchanged: bool) -> Check:
    """A latency on the virtual board.

    Where an operation takes another time, stimuli fall otherwise, and the greatest latency is
    another one by chance: then it is told, and limits alone judge it.
    """
    now = told_of(summary)
    was = {name: values[0] for name, values in before.known.items()} if before else {}
    if not now and not was:
        return Check(word, "not judged", f"No {word} latency was measured.")
    other = [name for name in now if was.get(name) != now[name]]
    if not other:
        return Check(word, "as good", f"The {word} latency is that of the baseline.")
    sentence = f"The {word} latency changed: {', '.join(_change(name, was, now) for name in other)}."
    if not unchanged:
        why = "Stimuli met other operations than in the baseline, so it is told and not judged."
        return Check(word, "not judged", f"{sentence} {why}")
    worse = any(name not in was or now[name] > was[name] for name in other)
    return Check(word, "worse" if worse else "better", sentence)


def _change(name: str, was: Mapping[str, float], now: Mapping[str, float]) -> str:
    before = f"{was[name]:,.1f}" if name in was else "none"
    return f"{name.replace('_', '.')} {before} → {now[name]:,.1f} ns"
