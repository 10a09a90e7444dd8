"""The sentences at the top of a report, computed from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from base.microseconds import digits
from base.run_folder.manifest import Maximum
from base.run_folder.quantities import SECTION, UNINTERRUPTED
from dashboards.formatting import microseconds
from dashboards.loaded.lanes import Lane, Lanes, Waiter, alike
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import spares_interrupts
from scenarios.operations import in_words

# Below this, two values are alike to a reader; the error budget is far below.
_ALIKE = 1.25
_GROWS = 1.5


def headline(scenario: str, lanes: Lanes) -> tuple[str, ...]:
    """Which allocator, and how bad: for each lane the longest possible wait, and whose it is, such
    as `seglist can keep an interrupt waiting for 36.45 µs, 4.3 times as long as tlsf (8.50 µs)`.
    """
    if not lanes:
        return (f"In {scenario} nothing was measured.",)
    sentences = []
    for lane in lanes:
        worst, best = lane.waiters[0], lane.waiters[-1]
        words = f"{worst.spoken} can keep {lane.who} waiting for {worst.possible}"
        ratio = worst.possible_ns / best.possible_ns if best.possible_ns > 0 else 0.0
        if worst is best:
            words += f"; the median is {microseconds(worst.median_ns)}."
        elif alike(worst, best):
            why = "The difference is within the error, or what placement does."
            words += f", and {best.spoken} for {best.possible}. {why}"
        elif ratio < _ALIKE:
            words += f", and {best.spoken} for a little less, {best.possible}."
        else:
            of = "" if len(lane.waiters) == 2 else f", the best of {len(lane.waiters)}"
            words += f", {ratio:.1f} times as long as {best.spoken} ({best.possible}{of})."
        if grows(worst.series.run):
            words += " The wait grows with each block that was freed before."
        sentences.append(words)
    return tuple(sentences)


def holders(lanes: Lanes) -> Iterator[str]:
    """Whose section it is, of the first and the last of each order, and what was seen."""
    for lane in lanes:
        for waiter in (lane.waiters[0], *lane.waiters[1:][-1:]):
            yield f"{waiter.spoken}: {held(waiter)}; {seen(waiter)}."


def held(waiter: Waiter) -> str:
    """`masked 7.81 µs by operation 663, a free of 120 bytes; 6.36 µs without interrupts in it`."""
    run = waiter.series.run
    verb, holder = (
        "held" if spares_interrupts(waiter.series) else "masked",
        run.manifest.maxima.get(SECTION.key),
    )
    by = _operation(holder)
    words = f"{verb} {microseconds(run.summary(SECTION).max)}" + (f" by {by}" if by else "")
    if holder is None or not holder.interrupted:
        return words
    without = microseconds(run.summary(UNINTERRUPTED).max)
    return f"{words}, an interrupt within; {without} at most without"


def seen(waiter: Waiter) -> str:
    """`the longest wait seen is 7.71 µs, which met operation 1,228, a free of 120 bytes`."""
    summary = waiter.series.run.summary(waiter.quantity)
    if summary.max is None:
        return "no wait was seen"
    longer = ", longer than the longest section and the entry" if waiter.wait.by == "wait" else ""
    words = f"the longest wait seen is {summary.at_least}{microseconds(summary.max)}{longer}"
    met = waiter.series.run.manifest.maxima.get(waiter.quantity.key)
    return words if met is None else f"{words}, which met {_operation(met) or 'no operation'}"


def _operation(maximum: Maximum | None) -> str:
    """`operation 663, an unmeasured free of 120 bytes at depth 22`; empty outside operations."""
    if maximum is None or maximum.seq is None or maximum.kind is None or maximum.size is None:
        return ""
    words = "unmeasured " * (maximum.measured is False) + "aligned " * bool(maximum.aligned)
    words += in_words(maximum.kind, maximum.size)
    depth = "" if maximum.depth is None else f" at depth {maximum.depth:,}"
    return f"operation {maximum.seq:,}, {'an' if words[0] in 'aeiou' else 'a'} {words}{depth}"


def grows(run: LoadedRun) -> bool:
    """True if what the search executes, or else looks at, grows with the free blocks.

    Time alone does not tell: a section that lets interrupts run grows with its length by chance.
    """
    calm = run.by_depth.filter(~pl.col("interrupted"))
    column = next((name for name in ("instructions", "probes") if calm[name].count()), None)
    ends = _both_ends(run, column) if column else None
    return ends is not None and ends[1] >= _GROWS * ends[0]


def _both_ends(run: LoadedRun, column: str) -> tuple[float, float] | None:
    """Of uninterrupted sections the greatest at the least depth, and of the last quarter of depths;
    None without four.
    """
    table = run.by_depth.filter(~pl.col("interrupted")).drop_nulls(column)
    if table["depth"].n_unique() < 4:
        return None
    least, most = float(table["depth"].min()), float(table["depth"].max())  # type: ignore[arg-type]
    fresh = table.filter(depth=least)[column].max()
    last = table.filter(pl.col("depth") >= most - (most - least) / 4)[column].max()
    return float(fresh), float(last)  # type: ignore[arg-type]


def facts(lanes: Lanes) -> tuple[str, ...]:
    """What to know beside the answer: growth, medians, and neighbours that are no order."""
    several = [lane for lane in lanes if len(lane.waiters) > 1]
    sentences = [_growth([waiter for lane in several for waiter in lane.waiters])]
    sentences += [words(lane) for lane in several for words in (_medians, _ties)]
    return tuple(filter(None, sentences))


def _medians(lane: Lane) -> str:
    """The article's point: nobody sees it in the median."""
    medians = [waiter.median_ns for waiter in lane.waiters]
    low, high = min(medians), max(medians)
    if lane.waiters[0].possible_ns < 2 * lane.waiters[-1].possible_ns or high > _ALIKE * low:
        return ""
    between = "" if microseconds(low) == microseconds(high) else f"{digits(low)} to "
    return f"The median does not show it: {lane.who} waits {between}{microseconds(high)} with each."


def _ties(lane: Lane) -> str:
    """Neighbours in an order of three or more that are no order."""
    pairs = "; ".join(f"{first.spoken} and {second.spoken}" for first, second in lane.alike)
    return f"Not told apart, by budget or placement: {pairs}." if pairs and len(lane.waiters) > 2 else ""


def _growth(waiters: Sequence[Waiter]) -> str:
    """How the longest uninterrupted section of an allocation, in ns on the wire, changed from a
    ramp's first depth to its last quarter.
    """
    grown = [
        (waiter, *ends) for waiter in waiters if (ends := _both_ends(waiter.series.run, "wire_section_ns"))
    ]
    rising = [growth for growth in grown if grows(growth[0].series.run) and growth[2] > growth[1]]
    flat = [growth[0].name for growth in grown if growth not in rising]
    if not grown:
        return ""
    if not rising:
        return f"Fragmented against fresh: none of {len(grown)} searches grew by half."
    steepest, first, last = max(rising, key=lambda growth: growth[2])
    return (
        f"Fragmented against fresh: {steepest.spoken}'s section grew from {microseconds(first)} to "
        f"{microseconds(last)}; {len(rising)} of {len(grown)} grew by half or more, {len(flat)} stayed flat."
    )
