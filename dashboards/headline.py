"""The sentences at the top of a report, computed from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, Quantity
from dashboards.formatting import grouped, microseconds
from dashboards.loaded.lanes import Lane, Waiter
from dashboards.loaded.quantities import call_name
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, spares_control
from dashboards.waveforms import worst_key

# Below this, two values are alike to a reader; the error budget is far below.
_ALIKE = 1.25
_GROWS = 1.5


def headline(scenario: str, found: Sequence[Lane]) -> tuple[str, ...]:
    """Which allocator, and how bad: a sentence for each lane."""
    if not found:
        return (f"In {scenario} nothing was measured.",)
    return tuple(_answer(lane) for lane in found)


def _answer(lane: Lane) -> str:
    """`seglist keeps an interrupt waiting up to 33.95 µs, tlsf 8.05 µs: 4.2 ×, growing with …`"""
    worst, best = lane.waiters[0], lane.waiters[-1]
    opening = f"{worst.one.name} keeps {lane.who} waiting up to {microseconds(worst.worst_ns)}"
    if worst is best:
        return f"{opening}, and {microseconds(worst.median_ns)} in the median{_growing(worst)}."
    others = f"{best.one.name} {microseconds(best.worst_ns)}"
    if len(lane.waiters) > 2:
        others = f"the best of {len(lane.waiters)}, {best.one.name}, {microseconds(best.worst_ns)}"
    ratio = worst.worst_ns / best.worst_ns if best.worst_ns > 0 else 0.0
    factor = f": {ratio:.1f} ×" if ratio >= _ALIKE else ""
    return f"{opening}, {others}{factor}{_growing(worst)}."


def _growing(waiter: Waiter) -> str:
    ends = worst_at_both_ends(waiter.one.run)
    return ", growing with each freed block" if ends and ends[1] >= _GROWS * ends[0] else ""


def facts(series: Sequence[Series], found: Sequence[Lane]) -> tuple[str, ...]:
    """What to know beside the answer: medians, growth, cause, cost, and where the best is worse.

    `found` are the lanes of `series`.
    """
    told = [sentence for lane in found if len(lane.waiters) > 1 for sentence in _of_lane(lane)]
    return tuple(sentence for sentence in (_growth(series), *told, _without_control(series)) if sentence)


def _of_lane(lane: Lane) -> Iterator[str]:
    worst, best = lane.waiters[0], lane.waiters[-1]
    yield _medians(lane)
    yield _cause(lane)
    if worst.worst_ns >= _ALIKE * best.worst_ns:
        yield _cost(best.one, worst.one)
        yield _worse(best.one, worst.one)


def _medians(lane: Lane) -> str:
    """The article's point: nobody sees it in the median."""
    medians = [waiter.median_ns for waiter in lane.waiters]
    low, high = min(medians), max(medians)
    apart = lane.waiters[0].worst_ns >= 2 * lane.waiters[-1].worst_ns
    if not apart or high > _ALIKE * low:
        return ""
    between = "" if microseconds(low) == microseconds(high) else f"{low / 1000:,.2f} to "
    return f"The median does not show it: {lane.who} waits {between}{microseconds(high)} with each."


def _cause(lane: Lane) -> str:
    """What the longest wait had met."""
    worst = lane.waiters[0].one
    key = worst_key(worst.run, lane.quantity)
    if key is None or key.startswith("@"):
        return ""
    met = _met(worst.run, int(key), lane.quantity)
    return f"{worst.name}'s longest wait met {_operation(met)}." if met else ""


def _met(run: LoadedRun, seq: int, quantity: Quantity) -> dict[str, object] | None:
    """The operation that the longest wait met, as run.json tells it; else as the table does."""
    maximum = run.manifest.maxima.get(quantity.key)
    if maximum is not None and maximum.seq == seq and maximum.size is not None:
        return maximum.model_dump()
    rows = run.operations.filter(pl.col("seq") == seq).to_dicts()
    return rows[0] if rows else None


def _operation(row: dict[str, object]) -> str:
    """`heap_stats, a call of the kernel`, or `an allocation of 120 bytes at depth 256`."""
    size, depth = int(str(row["size"])), row["depth"]
    if row["kind"] == "K":
        return f"{row['label'] or call_name(size)}, a call of the kernel"
    what = {"A": "an allocation", "O": "a refused allocation"}.get(str(row["kind"]), "a free")
    return f"{what} of {size:,} bytes" + ("" if depth is None else f" at depth {int(str(depth)):,}")


def _growth(series: Sequence[Series]) -> str:
    """How the worst critical section changed from a ramp's first quarter to its last."""
    grown = [(one, *ends) for one in series if (ends := worst_at_both_ends(one.run))]
    if not grown:
        return ""
    rising = [(one, first, last) for one, first, last in grown if last >= _GROWS * first]
    flat = [one.name for one, first, last in grown if last < _GROWS * first]
    words = [
        f"{one.name}'s section grew from {microseconds(first)} to {microseconds(last)}"
        for one, first, last in sorted(rising, key=lambda told: -told[2])[:1]
    ]
    if len(rising) > 1:
        words.append(f"{len(rising)} allocators' grew by half or more")
    if flat:
        which = f"{flat[0]}'s" if len(flat) == 1 else f"those of {len(flat)}"
        words.append(f"{which} stayed flat" if rising else "none grew")
    return f"Along the ramp of freed blocks {', '.join(words)}."


def worst_at_both_ends(run: LoadedRun) -> tuple[float, float] | None:
    """The worst critical section of the first and of the last quarter of depths, in ns on the wire.

    None without at least four depths.
    """
    table = run.worst_by_depth
    if len(table) < 4:
        return None
    least, most = int(table["depth"][0]), int(table["depth"][-1])
    quarter = (most - least) / 4
    first = table.filter(pl.col("depth") <= least + quarter)["wire_critical_ns"].max()
    last = table.filter(pl.col("depth") >= most - quarter)["wire_critical_ns"].max()
    return float(first), float(last)  # type: ignore[arg-type]


def _cost(best: Series, worst: Series) -> str:
    """What the shorter wait costs in bytes; empty where it costs none or nobody knows."""
    pairs = [
        (words, ours, theirs)
        for words, ours, theirs in (
            ("heap", _heap_used(best), _heap_used(worst)),
            ("flash", _flash(best), _flash(worst)),
        )
        if ours is not None and theirs is not None and ours > theirs
    ]
    if not pairs:
        return ""
    more = " and ".join(f"{grouped(ours)} bytes of {words}" for words, ours, _ in pairs)
    less = " and ".join(grouped(theirs) for _, _, theirs in pairs)
    return f"{best.name} takes {more} for it, {worst.name} {less}."


def _heap_used(one: Series) -> int | None:
    return one.run.manifest.memory.used_bytes if one.run.manifest.memory else None


def _flash(one: Series) -> int | None:
    return one.run.manifest.footprint.flash_bytes if one.run.manifest.footprint else None


_HELD_AGAINST = (
    (CRITICAL, "median", "the median section of an allocation"),
    (FREE_CRITICAL, "median", "the median section of a free"),
    (FREE_CRITICAL, "max", "the longest section of a free"),
)


def _worse(best: Series, worst: Series) -> str:
    """Where the allocator with the shortest wait is the slower of the two."""
    told = []
    for quantity, statistic, words in _HELD_AGAINST:
        ours, theirs = (getattr(one.run.summary(quantity), statistic) for one in (best, worst))
        if ours is not None and theirs and ours >= _ALIKE * theirs:
            told.append(f"{words} is {microseconds(ours)} against {microseconds(theirs)}")
    return f"Where {best.name} is worse than {worst.name}: {'; '.join(told)}." if told else ""


def _without_control(series: Sequence[Series]) -> str:
    """A sentence if a lock holds off the control interrupt too."""
    count = sum(not spares_control(one) for one in series)
    return f"{count} of {len(series)} mask the control interrupt too." if count else ""
