"""The words of the command line for what is judged, and where run.json has it."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.compare.gate.baseline import Statistics
from analysis.compare.gate.measured import Measured
from analysis.compare.gate.outcome import Check
from base.metrology.quantiles import Summary
from base.run_folder.named_quantities import ALLOCATE, FREE, INTERRUPT, TASK
from base.run_folder.quantities import CONTROL, DWT_CYCLES, FREE_DWT_CYCLES, LATENCY
from base.run_folder.quantities import TASK as TASK_LATENCY

SECTIONS_NS = {one.name: one.key for one in (ALLOCATE, FREE)}
SECTIONS_CYCLES = {ALLOCATE.name: DWT_CYCLES.key, FREE.name: FREE_DWT_CYCLES.key}
LATENCIES = {one.name: one.key for one in (INTERRUPT, TASK)}
JUDGED = {INTERRUPT.name: LATENCY, TASK.name: TASK_LATENCY, "control": CONTROL}
"""The latencies that are held against a baseline: the control interrupt's, too."""
STATISTICS = ("mean", "median", "p99", "p99_9", "max")


def counted(summary: Summary | None) -> dict[str, float | int]:
    """The statistics of told_of(), and the count of samples, which is equal in exact runs."""
    told = told_of(summary)
    return {"n": summary.n, **told} if summary and told else {}


def told_of(summary: Summary | None) -> dict[str, float | int]:
    """The statistics that a run has of a quantity, by name."""
    if summary is None or not summary.n:
        return {}
    every: Mapping[str, float | int | None] = {name: getattr(summary, name) for name in STATISTICS}
    return {name: value for name, value in every.items() if value is not None}


def latency_check(word: str, before: Statistics | None, run: Measured, unchanged: bool) -> Check:
    """A latency on the virtual board: how many samples there are, and their statistics.

    Where an operation takes another time, stimuli fall otherwise, and the greatest latency is
    another one by chance: then it is told, and limits alone judge it.
    """
    quantity = JUDGED[word]
    now = counted(run.manifest.statistics.get(quantity.key))
    was = {name: values[0] for name, values in before.known.items()} if before else {}
    if not now and not was:
        return Check(word, "not judged", f"No {word} latency was measured.")
    if not was:
        return Check(word, "cannot say", "The baseline has nothing of it; write it anew with --update.")
    if not now:
        return Check(word, "worse", f"No {word} latency was measured, and the baseline has some.")
    other = [name for name in was if was[name] != now.get(name)]
    if not other:
        return Check(word, "as good", f"The {word} latency is that of the baseline.")
    sentence = f"The {word} latency changed: {', '.join(_change(name, was, now) for name in other)}."
    if not unchanged:
        why = "Stimuli met other operations than in the baseline, so it is told and not judged."
        return Check(word, "not judged", f"{sentence} {why}")
    if not any(_is_worse(name, was[name], now.get(name)) for name in other):
        return Check(word, "better", sentence)
    return Check(word, "worse", sentence, (f"the longest: {run.longest(quantity)}",), 1)


def _is_worse(name: str, was: float, now: float | None) -> bool:
    """Fewer samples are worse: an interrupt was not answered."""
    return now is None or (now < was if name == "n" else now > was)


def _change(name: str, was: Mapping[str, float], now: Mapping[str, float]) -> str:
    if name == "n":
        return f"n {was[name]:,} → {now[name]:,}"
    after = f"{now[name]:,.1f}" if name in now else "none"
    return f"{name.replace('_', '.')} {was[name]:,.1f} → {after} ns"
