"""What the gate comes to: quantities that are judged, checks of a run, and the report of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.compare.gate.baseline import Statistics
from analysis.compare.gate.measured import Measured
from analysis.compare.placements import Ranges
from analysis.compare.settings import Change
from analysis.judged import CANNOT_SAY, WORSE, State, exit_status
from base.metrology.quantiles import Summary
from base.run_folder.named_quantities import ALLOCATE, FREE, INTERRUPT, SECTION, TASK
from base.run_folder.quantities import CONTROL, DWT_CYCLES, FREE_DWT_CYCLES, LATENCY
from base.run_folder.quantities import TASK as TASK_LATENCY


@dataclass(frozen=True)
class Check:
    """One quantity of one run. `named` are operations, the first of `changed`."""

    quantity: str
    state: State
    sentence: str
    named: tuple[str, ...] = ()
    changed: int = 0


@dataclass(frozen=True)
class Judged:
    """One run, or several of equal settings.

    `refusal` is the sentence why nothing can be said, else None. `changes` are the settings that
    the sources or tools decided otherwise than in the baseline. `placements` has the baseline's
    range and the run's of each worst case, where both were placed.
    """

    folders: tuple[str, ...]
    name: str
    checks: tuple[Check, ...] = ()
    refusal: str | None = None
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    placements: tuple[Ranges, ...] = ()

    @property
    def exit_status(self) -> int:
        refused: list[State] = ["cannot say"] if self.refusal else []
        return exit_status([*refused, *(check.state for check in self.checks)])

    @property
    def state(self) -> State:
        """The whole of it in one word."""
        if self.exit_status:
            return "worse" if self.exit_status == WORSE else "cannot say"
        return "better" if any(check.state == "better" for check in self.checks) else "as good"


@dataclass(frozen=True)
class Report:
    """All runs. `notes` are sentences on what is no run's."""

    baseline: str | None
    runs: tuple[Judged, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 as good, 1 worse, 2 cannot say; worse counts before the last."""
        return exit_status(run.state for run in self.runs) if self.runs else CANNOT_SAY


SECTIONS_NS = {one.name: one.key for one in (SECTION, ALLOCATE, FREE)}
SECTIONS_CYCLES = {ALLOCATE.name: DWT_CYCLES.key, FREE.name: FREE_DWT_CYCLES.key}
LATENCIES = {one.name: one.key for one in (INTERRUPT, TASK)}
JUDGED = {INTERRUPT.name: LATENCY, TASK.name: TASK_LATENCY, "control": CONTROL}
"""The latencies that are held against a baseline: the control interrupt's, too."""
STATISTICS = ("mean", "median", "p99", "p99_9", "max")


def counted(summary: Summary | None) -> dict[str, float | int]:
    """As told_of(), and of how many samples: what repeats itself to the cycle has as many."""
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
