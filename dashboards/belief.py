"""One line on whether the numbers of a page may be believed."""

from __future__ import annotations

from collections.abc import Sequence

from base.run_folder.manifest import VIRTUAL_BOARD, Manifest
from base.run_folder.quantities import HIT, LATENCY
from dashboards.blocks import Belief
from dashboards.formatting import grouped, microseconds
from dashboards.loaded.series import Series, counter_of


def belief(series: Sequence[Series]) -> Belief | None:
    """How many runs are complete, how far the witnesses differ, the budget, n and the board.

    Red if a run is not complete, amber if a complete one has a warning, green otherwise. That some
    interrupts are undecided is told by a warning and no reason to doubt: the budgets have it. None
    without runs.
    """
    manifests = [member.run.manifest for member in series]
    if not manifests:
        return None
    complete = sum(manifest.complete for manifest in manifests)
    warned = any(len(manifest.warnings) > _undecided(manifest) for manifest in manifests)
    level = "red" if complete < len(manifests) else "amber" if warned else "green"
    words = [f"{complete} of {len(manifests)} complete", *_agreement(manifests), *_budget(series)]
    return Belief(level, " · ".join([*words, *_counted(manifests), _board(manifests)]))


def _undecided(manifest: Manifest) -> int:
    """The number of warnings that only count undecided interrupts."""
    budget = manifest.error_budget.get(HIT.key)
    return int(budget is not None and budget.undecided is not None)


def _agreement(manifests: Sequence[Manifest]) -> list[str]:
    differences = [manifest.agreement.wire_minus_dwt_cycles_max_abs for manifest in manifests]
    measured = [value for value in differences if value is not None]
    if not measured:
        return []
    furthest = max(measured)
    noun = "cycle" if f"{furthest:.2g}" == "1" else "cycles"
    counters = " and ".join(dict.fromkeys(map(counter_of, manifests)))
    return [f"wire = {counters} to {0 if furthest < 0.005 else float(f'{furthest:.2g}'):g} {noun}"]


def _budget(series: Sequence[Series]) -> list[str]:
    """The error budget of a wait, the widest."""
    budgets = [member.run.certainty.budgets.get(LATENCY.key) for member in series]
    measured = [value for value in budgets if value is not None]
    return [f"±{microseconds(max(measured))}"] if measured else []


def _counted(manifests: Sequence[Manifest]) -> list[str]:
    counts = [
        manifest.statistics[LATENCY.key].n for manifest in manifests if LATENCY.key in manifest.statistics
    ]
    if not counts:
        return []
    low, high = min(counts), max(counts)
    return [f"n = {grouped(low)}" + (f" to {grouped(high)}" if low != high else "") + " interrupts"]


def _board(manifests: Sequence[Manifest]) -> str:
    virtual = sum(VIRTUAL_BOARD in manifest.tools for manifest in manifests)
    if virtual == len(manifests):
        return "virtual board"
    return "real board" if not virtual else f"{virtual} on the virtual board"
