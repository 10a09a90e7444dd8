"""The sentences at the top of a report, computed from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from base.microseconds import digits
from base.run_folder.quantities import (
    CRITICAL,
    FREE_CRITICAL,
    FREE_INSTRUCTIONS,
    INSTRUCTIONS,
    Quantity,
)
from dashboards.formatting import grouped, microseconds
from dashboards.loaded.lanes import Lane, Waiter
from dashboards.loaded.quantities import call_name
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series, could_have_control, counter_of, has_control, spares_control
from dashboards.waveforms import worst_key

# Below this, two values are alike to a reader; the error budget is far below.
_ALIKE = 1.25
_GROWS = 1.5
# Where the code lies in the flash makes a section so much longer or shorter by itself.
_SLOWER = 1.15


def headline(scenario: str, found: Sequence[Lane]) -> tuple[str, ...]:
    """Which allocator, and how bad: a sentence for each lane, and for each board of it."""
    if not found:
        return (f"In {scenario} nothing was measured.",)
    return tuple(_answer(lane) for lane in _of_one_board(found))


def _of_one_board(found: Sequence[Lane]) -> list[Lane]:
    """The lanes, each split by board: no run is better than one of another board."""
    return [
        replace(lane, waiters=tuple(one for one in lane.waiters if _board(one) == board))
        for lane in found
        for board in dict.fromkeys(map(_board, lane.waiters))
    ]


def _board(waiter: Waiter) -> str:
    return waiter.one.run.manifest.board_folder


def _answer(lane: Lane) -> str:
    """`seglist keeps an interrupt waiting up to 33.95 µs, tlsf 8.05 µs: 4.2 ×, growing with …`"""
    worst, best = lane.waiters[0], lane.waiters[-1]
    opening = f"{worst.name} keeps {lane.who} waiting up to {microseconds(worst.worst_ns)}"
    if worst is best:
        return f"{opening}, and {microseconds(worst.median_ns)} in the median{_growing(worst)}."
    others = f"{best.name} {microseconds(best.worst_ns)}"
    if len(lane.waiters) > 2:
        others = f"the best of {len(lane.waiters)}, {best.name}, {microseconds(best.worst_ns)}"
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
    several = [lane for lane in _of_one_board(found) if len(lane.waiters) > 1]
    told = [sentence for lane in several for sentence in _of_lane(lane)]
    instruments = (_without_control(series), _another_counter(series))
    return tuple(sentence for sentence in (_growth(several), *told, *instruments) if sentence)


def _of_lane(lane: Lane) -> Iterator[str]:
    worst, best = lane.waiters[0], lane.waiters[-1]
    yield _medians(lane)
    yield _cause(lane)
    if worst.worst_ns >= _ALIKE * best.worst_ns:
        yield _cost(lane)
    yield _worse(best, lane)
    if worst.worst_ns < _ALIKE * best.worst_ns:
        yield _worse(worst, lane)


def _medians(lane: Lane) -> str:
    """The article's point: nobody sees it in the median."""
    medians = [waiter.median_ns for waiter in lane.waiters]
    low, high = min(medians), max(medians)
    apart = lane.waiters[0].worst_ns >= 2 * lane.waiters[-1].worst_ns
    if not apart or high > _ALIKE * low:
        return ""
    between = "" if microseconds(low) == microseconds(high) else f"{digits(low)} to "
    return f"The median does not show it: {lane.who} waits {between}{microseconds(high)} with each."


def _cause(lane: Lane) -> str:
    """What the longest wait had met."""
    worst = lane.waiters[0]
    key = worst_key(worst.one.run, lane.quantity)
    if key is None or key.startswith("@"):
        return ""
    met = _met(worst.one.run, int(key), lane.quantity)
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


def _growth(found: Sequence[Lane]) -> str:
    """How the worst critical section changed from a ramp's first quarter to its last."""
    waiters = [waiter for lane in found for waiter in lane.waiters]
    grown = [(one.name, *ends) for one in waiters if (ends := worst_at_both_ends(one.one.run))]
    if not grown:
        return ""
    rising = sorted((told for told in grown if told[2] >= _GROWS * told[1]), key=lambda told: -told[2])
    flat = [name for name, first, last in grown if last < _GROWS * first]
    if not rising:
        return f"Fragmented against fresh: none of {len(grown)} sections grew by half."
    name, first, last = rising[0]
    words = (
        f"Fragmented against fresh: {name}'s section grew from {microseconds(first)} to {microseconds(last)}"
    )
    if len(grown) > 2:
        return f"{words}; {len(rising)} of {len(grown)} grew by half or more, {len(flat)} stayed flat."
    return f"{words}, {flat[0]}'s stayed flat." if flat else f"{words}."


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


def _cost(lane: Lane) -> str:
    """What the shortest wait costs in bytes; empty where it costs none or nobody knows.

    Beside the worst of two, or the least of more.
    """
    best = lane.waiters[-1]
    pairs = []
    for words, bytes_of in (("heap", _heap_used), ("flash", _flash)):
        ours = bytes_of(best.one)
        others = [(value, one.name) for one in lane.waiters[:-1] if (value := bytes_of(one.one)) is not None]
        if ours is not None and others and ours > min(others)[0]:
            pairs.append((words, ours, *min(others)))
    if not pairs:
        return ""
    told = (
        f"{grouped(ours)} bytes of {words}, {name} {grouped(least)}" for words, ours, least, name in pairs
    )
    return f"{best.name} takes {'; '.join(told)}."


def _heap_used(one: Series) -> int | None:
    return one.run.manifest.memory.used_bytes if one.run.manifest.memory else None


def _flash(one: Series) -> int | None:
    return one.run.manifest.footprint.flash_bytes if one.run.manifest.footprint else None


_HELD_AGAINST = (
    (CRITICAL, INSTRUCTIONS, "median", "the median section of an allocation"),
    (FREE_CRITICAL, FREE_INSTRUCTIONS, "median", "the median section of a free"),
    (FREE_CRITICAL, FREE_INSTRUCTIONS, "max", "the longest section of a free"),
)


def _worse(slower: Waiter, lane: Lane) -> str:
    """Where an allocator is slower than another of its lane, and why: by its instructions."""
    others = [one for one in lane.waiters if one is not slower]
    told = []
    for quantity, instructions, statistic, words in _HELD_AGAINST:
        known = [(value, other) for other in others if (value := _value(other, quantity, statistic))]
        ours = _value(slower, quantity, statistic)
        if ours is None or not known:
            continue
        theirs, other = min(known, key=lambda pair: pair[0])
        if ours >= _SLOWER * theirs:
            counts = [_value(one, instructions, statistic) for one in (slower, other)]
            why = _why(*counts)
            told.append(f"{words} is {microseconds(ours)}, {other.name}'s {microseconds(theirs)}{why}")
    return f"Where {slower.name} is worse: {'; '.join(told)}." if told else ""


def _value(waiter: Waiter, quantity: Quantity, statistic: str) -> float | None:
    found: float | None = getattr(waiter.one.run.summary(quantity), statistic)
    return found


def _why(ours: float | None, theirs: float | None) -> str:
    """` (203 instructions against 161)`; empty where nobody counted."""
    if ours is None or theirs is None:
        return ""
    return f" ({grouped(ours)} instructions against {grouped(theirs)})"


def _without_control(series: Sequence[Series]) -> str:
    """A sentence if a lock holds off the control interrupt too, or if the board has none."""
    without = sum(not could_have_control(one) for one in series)
    masked = sum(has_control(one) and not spares_control(one) for one in series)
    told = [f"{masked} of {len(series)} mask the control interrupt too."] if masked else []
    told += [f"{without} of {len(series)} had no control interrupt: their board has none."] if without else []
    return " ".join(told)


def _another_counter(series: Sequence[Series]) -> str:
    """A sentence if a timer counted what the page says DWT counted."""
    timers = [counter for one in series if (counter := counter_of(one.run.manifest)) != "DWT"]
    if not timers:
        return ""
    names = " or ".join(dict.fromkeys(timers))
    return f"Of {len(timers)} of {len(series)} {names} counted the cycles: the core has no DWT."
