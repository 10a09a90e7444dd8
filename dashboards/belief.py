"""One line on whether the numbers of a page may be believed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from base.run_folder.manifest import VIRTUAL_BOARD, Manifest
from base.run_folder.quantities import HIT, LATENCY
from dashboards.blocks import Belief, Fact
from dashboards.formatting import every_run, grouped, microseconds
from dashboards.loaded.series import Series, counter_of

_MOST_OF_A_WARNING = 90


def belief(series: Sequence[Series]) -> Belief | None:
    """How many runs are complete, what they warn of, how far the witnesses differ, the budget, n
    and the board.

    Red if a run is not complete, amber if a complete one has a warning, green otherwise. That some
    interrupts are undecided is told by a warning and no reason to doubt: the budgets have it. None
    without runs.
    """
    if not series:
        return None
    doubtful = [member for member in series if not member.run.manifest.complete]
    warned = [member for member in series if _doubts(member.run.manifest)]
    level = "red" if doubtful else "amber" if warned else "green"
    manifests = [member.run.manifest for member in series]
    facts = (_complete(series, doubtful), *_warned(warned), *_agreement(manifests), *_budget(series))
    return Belief(level, (*facts, *_counted(manifests), _board(manifests)))


def _complete(series: Sequence[Series], doubtful: Sequence[Series]) -> Fact:
    if doubtful:
        words = f"{len(doubtful)} of {len(series)} not complete"
        return Fact(words, "run", doubtful[0].run.id)
    if len(series) == 1:
        return Fact("the run is complete", "run", series[0].run.id)
    return Fact(f"{every_run(len(series))} complete", "matrix")


def _warned(warned: Sequence[Series]) -> Iterator[Fact]:
    """The first warning, at once."""
    if warned:
        warning = _doubts(warned[0].run.manifest)[0]
        text = warning if len(warning) <= _MOST_OF_A_WARNING else f"{warning[: _MOST_OF_A_WARNING - 1]}…"
        head = "a warning" if len(warned) == 1 else f"{len(warned)} runs with warnings, such as"
        yield Fact(f"{head}: {text}", "run", warned[0].run.id)


def _doubts(manifest: Manifest) -> list[str]:
    """The warnings but for that on undecided interrupts, which names the budgets that have them."""
    return [warning for warning in manifest.warnings if HIT.key not in warning]


def _agreement(manifests: Sequence[Manifest]) -> Iterator[Fact]:
    differences = [manifest.agreement.wire_minus_dwt_cycles_max_abs for manifest in manifests]
    measured = [value for value in differences if value is not None]
    if measured:
        furthest = max(measured)
        counters = " and ".join(dict.fromkeys(map(counter_of, manifests)))
        apart = f"{float(f'{furthest:.2g}'):g} {'cycle' if f'{furthest:.2g}' == '1' else 'cycles'}"
        words = "agree to the cycle" if furthest < 0.005 else f"differ by {apart} at most"
        yield Fact(f"wire and {counters} {words}", "agreement")


def _budget(series: Sequence[Series]) -> Iterator[Fact]:
    """The error budget of a wait, the widest."""
    budgets = [member.run.certainty.budgets.get(LATENCY.key) for member in series]
    measured = [value for value in budgets if value is not None]
    if measured:
        yield Fact(f"waits true to ±{microseconds(max(measured))}", "agreement")


def _counted(manifests: Sequence[Manifest]) -> Iterator[Fact]:
    counts = [
        manifest.statistics[LATENCY.key].n for manifest in manifests if LATENCY.key in manifest.statistics
    ]
    if counts:
        low, high = min(counts), max(counts)
        words = grouped(low) + (f" to {grouped(high)}" if low != high else "")
        yield Fact(f"{words} interrupts{' each' if len(counts) > 1 else ''}", "distributions")


def _board(manifests: Sequence[Manifest]) -> Fact:
    virtual = sum(VIRTUAL_BOARD in manifest.tools for manifest in manifests)
    words = f"{virtual} on the virtual board" if 0 < virtual < len(manifests) else "virtual board"
    return Fact(words if virtual else "real board", "agreement")
