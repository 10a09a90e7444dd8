"""The sentences at the top of a report, computed from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from analysis.compare.boards import board_of
from base.microseconds import digits
from base.run_folder.manifest import Maximum
from base.run_folder.quantities import (
    CRITICAL,
    FREE_CRITICAL,
    FREE_INSTRUCTIONS,
    INSTRUCTIONS,
    SECTION,
    UNINTERRUPTED,
)
from dashboards.formatting import grouped, microseconds
from dashboards.loaded.lanes import Lane, Waiter, alike
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import (
    Series,
    counter_of,
    has_control,
    spares_interrupts,
)
from scenarios.operations import in_words

# Below this, two values are alike to a reader; the error budget is far below.
_ALIKE = 1.25
_GROWS = 1.5
# Where the code lies in the flash makes a section so much longer or shorter by itself.
_SLOWER = 1.15


def headline(scenario: str, lanes: Sequence[Lane]) -> tuple[str, ...]:
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


def holders(lanes: Sequence[Lane]) -> Iterator[str]:
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
    fresh = table.filter(pl.col("depth") == least)[column].max()
    last = table.filter(pl.col("depth") >= most - (most - least) / 4)[column].max()
    return float(fresh), float(last)  # type: ignore[arg-type]


def facts(series: Sequence[Series], lanes: Sequence[Lane]) -> tuple[str, ...]:
    """What to know beside the answer: medians, growth, cause, cost, and where the best is worse.

    `lanes` are those of `series`.
    """
    several = [lane for lane in lanes if len(lane.waiters) > 1]
    sentences = [_growth([waiter for lane in several for waiter in lane.waiters])]
    for lane in several:
        worst, best = lane.waiters[0], lane.waiters[-1]
        apart = worst.possible_ns >= _ALIKE * best.possible_ns
        sentences += [_medians(lane), _ties(lane), _cost(lane) if apart else "", _worse(best, lane)]
        sentences += [] if apart else [_worse(worst, lane)]
    masked = sum(has_control(member) and member.run.manifest.locking == "primask" for member in series)
    boards = (board_of(member.run.manifest) for member in series)
    without = sum(board is not None and not board.has_control for board in boards)
    control = [f"In {masked} of {len(series)} runs the lock masks the control interrupt too."] * bool(masked)
    if without:
        control.append(f"{without} of {len(series)} runs had no control interrupt, as their board has none.")
    sentences.append(" ".join(control))
    if timers := [counter for member in series if (counter := counter_of(member.run.manifest)) != "DWT"]:
        names = " or ".join(dict.fromkeys(timers))
        words = f"runs {names} counted the cycles, as the core has no DWT."
        sentences.append(f"In {len(timers)} of {len(series)} {words}")
    return tuple(sentence for sentence in sentences if sentence)


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
    words = (
        f"Fragmented against fresh: {steepest.spoken}'s section grew from {microseconds(first)} to "
        f"{microseconds(last)}"
    )
    if len(grown) > 2:
        return f"{words}; {len(rising)} of {len(grown)} grew by half or more, {len(flat)} stayed flat."
    return f"{words}, {flat[0]}'s stayed flat." if flat else f"{words}."


def _cost(lane: Lane) -> str:
    """What the shortest wait costs in bytes, beside the least of the others; empty where it costs
    none or nobody knows.
    """
    costs = []
    for words, part, name in (("heap", "memory", "used_bytes"), ("flash", "footprint", "flash_bytes")):
        *values, ours = (getattr(getattr(w.series.run.manifest, part), name, None) for w in lane.waiters)
        others = [
            (value, waiter.spoken)
            for value, waiter in zip(values, lane.waiters, strict=False)
            if value is not None
        ]
        if ours is not None and others and ours > min(others)[0]:
            least, other = min(others)
            costs.append(f"{grouped(ours)} bytes of {words}, {other} {grouped(least)}")
    return f"{lane.waiters[-1].spoken} takes {'; '.join(costs)}." if costs else ""


_HELD_AGAINST = (
    (CRITICAL, INSTRUCTIONS, "median", "the median section of an allocation"),
    (FREE_CRITICAL, FREE_INSTRUCTIONS, "median", "the median section of a free"),
    (FREE_CRITICAL, FREE_INSTRUCTIONS, "max", "the longest section of a free"),
)


def _worse(slower: Waiter, lane: Lane) -> str:
    """Where an allocator is slower than another of its lane, and why: by its instructions."""
    sentences = []
    for quantity, instructions, statistic, words in _HELD_AGAINST:
        figures = [
            (*(getattr(waiter.series.run.summary(of), statistic) for of in (quantity, instructions)), waiter)
            for waiter in lane.waiters
        ]
        ((ours, counted, _),) = (figure for figure in figures if figure[2] is slower)
        others = [figure for figure in figures if figure[2] is not slower and figure[0]]
        if ours is None or not others:
            continue
        theirs, their_count, other = min(others, key=lambda figure: figure[0])
        if ours >= _SLOWER * theirs:
            why = f" ({grouped(counted)} instructions against {grouped(their_count)})"
            why *= None not in (counted, their_count)
            sentences.append(f"{words} is {microseconds(ours)}, {other.spoken}'s {microseconds(theirs)}{why}")
    return f"Where {slower.spoken} is worse: {'; '.join(sentences)}." if sentences else ""
