"""The sentences at the top of a report, computed from the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from dashboards.loaded.lanes import Lane, Waiter, alike, operation_words
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import (
    Series,
    could_have_control,
    counter_of,
    has_control,
    spares_control,
    spares_interrupts,
)

# Below this, two values are alike to a reader; the error budget is far below.
_ALIKE = 1.25
_GROWS = 1.5
# Where the code lies in the flash makes a section so much longer or shorter by itself.
_SLOWER = 1.15


def headline(scenario: str, lanes: Sequence[Lane]) -> tuple[str, ...]:
    """Which allocator, and how bad: for each lane the longest possible wait, and whose it is."""
    if not lanes:
        return (f"In {scenario} nothing was measured.",)
    return tuple(_answer(lane) for lane in lanes)


def _answer(lane: Lane) -> str:
    """`seglist can keep an interrupt waiting for 36.45 µs, 4.3 times as long as tlsf (8.50 µs)`."""
    worst, best = lane.waiters[0], lane.waiters[-1]
    opening = f"{worst.spoken} can keep {lane.who} waiting for {worst.possible}"
    growing = " The wait grows with each block that was freed before." if grows(worst.series.run) else ""
    if worst is best:
        return f"{opening}; the median is {microseconds(worst.median_ns)}.{growing}"
    ratio = worst.possible_ns / best.possible_ns if best.possible_ns > 0 else 0.0
    if alike(worst, best):
        why = "The difference is within the error, or what placement does."
        return f"{opening}, and {best.spoken} for {best.possible}. {why}{growing}"
    if ratio < _ALIKE:
        return f"{opening}, and {best.spoken} for a little less, {best.possible}.{growing}"
    of = "" if len(lane.waiters) == 2 else f", the best of {len(lane.waiters)}"
    return f"{opening}, {ratio:.1f} times as long as {best.spoken} ({best.possible}{of}).{growing}"


def holders(lanes: Sequence[Lane]) -> Iterator[str]:
    """Whose section it is, of the first and the last of each order, and what was seen."""
    for lane in lanes:
        for waiter in (lane.waiters[0], *lane.waiters[1:][-1:]):
            yield f"{waiter.spoken}: {held(waiter)}; {seen(waiter)}."


def held(waiter: Waiter) -> str:
    """`masked 7.81 µs by operation 663, a free of 120 bytes; 6.36 µs without interrupts in it`."""
    verb = "held" if spares_interrupts(waiter.series) else "masked"
    by = operation_words(waiter.holder)
    words = f"{verb} {microseconds(waiter.section_ns)}" + (f" by {by}" if by else "")
    if waiter.holder is None or not waiter.holder.interrupted:
        return words
    return f"{words}, an interrupt within; {microseconds(waiter.uninterrupted_ns)} at most without"


def seen(waiter: Waiter) -> str:
    """`the longest wait seen is 7.71 µs, which met operation 1,228, a free of 120 bytes`."""
    if waiter.seen_ns is None:
        return "no wait was seen"
    longer = ", longer than the longest section and the entry" if waiter.wait.by == "wait" else ""
    sign = waiter.series.run.summary(waiter.quantity).at_least
    words = f"the longest wait seen is {sign}{microseconds(waiter.seen_ns)}{longer}"
    met = waiter.series.run.manifest.maxima.get(waiter.quantity.key)
    return words if met is None else f"{words}, which met {operation_words(met) or 'no operation'}"


def grows(run: LoadedRun) -> bool:
    """True if what the search executes, or else looks at, grows with the free blocks.

    Time alone does not tell: a section that lets interrupts run grows with its length by chance.
    """
    calm = run.by_depth.filter(~pl.col("interrupted"))
    column = next((name for name in ("instructions", "probes") if calm[name].count()), None)
    if column is None:
        return False
    ends = _both_ends(calm, column)
    return ends is not None and ends[1] >= _GROWS * ends[0]


def _both_ends(table: pl.DataFrame, column: str) -> tuple[float, float] | None:
    """The greatest at the least depth, and of the last quarter of depths; None without four."""
    table = table.drop_nulls(["depth", column])
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
    sentences = [sentence for lane in several for sentence in _of_lane(lane)]
    instruments = (_without_control(series), _another_counter(series))
    return tuple(sentence for sentence in (_growth(several), *sentences, *instruments) if sentence)


def _of_lane(lane: Lane) -> Iterator[str]:
    worst, best = lane.waiters[0], lane.waiters[-1]
    yield _medians(lane)
    yield _ties(lane)
    apart = worst.possible_ns >= _ALIKE * best.possible_ns
    if apart:
        yield _cost(lane)
    yield _worse(best, lane)
    if not apart:
        yield _worse(worst, lane)


def _medians(lane: Lane) -> str:
    """The article's point: nobody sees it in the median."""
    medians = [waiter.median_ns for waiter in lane.waiters]
    low, high = min(medians), max(medians)
    apart = lane.waiters[0].possible_ns >= 2 * lane.waiters[-1].possible_ns
    if not apart or high > _ALIKE * low:
        return ""
    between = "" if microseconds(low) == microseconds(high) else f"{digits(low)} to "
    return f"The median does not show it: {lane.who} waits {between}{microseconds(high)} with each."


def _ties(lane: Lane) -> str:
    """Neighbours in an order of three or more that are no order."""
    if len(lane.waiters) < 3 or not lane.alike:
        return ""
    pairs = "; ".join(f"{first.spoken} and {second.spoken}" for first, second in lane.alike)
    return f"Not told apart, by budget or placement: {pairs}."


def _growth(lanes: Sequence[Lane]) -> str:
    """How the worst critical section changed from a ramp's first depth to its last quarter."""
    waiters = [waiter for lane in lanes for waiter in lane.waiters]
    grown = [(waiter, *ends) for waiter in waiters if (ends := fresh_and_fragmented(waiter.series.run))]
    if not grown:
        return ""
    rising = sorted(
        (growth for growth in grown if grows(growth[0].series.run) and growth[2] > growth[1]),
        key=lambda growth: -growth[2],
    )
    flat = [growth[0].name for growth in grown if growth not in rising]
    if not rising:
        return f"Fragmented against fresh: none of {len(grown)} searches grew by half."
    one, first, last = rising[0]
    words = (
        f"Fragmented against fresh: {one.spoken}'s section grew from {microseconds(first)} to "
        f"{microseconds(last)}"
    )
    if len(grown) > 2:
        return f"{words}; {len(rising)} of {len(grown)} grew by half or more, {len(flat)} stayed flat."
    return f"{words}, {flat[0]}'s stayed flat." if flat else f"{words}."


def fresh_and_fragmented(run: LoadedRun) -> tuple[float, float] | None:
    """The longest uninterrupted section of an allocation at the least depth, and of the last
    quarter of depths, in ns on the wire. None without at least four depths.
    """
    return _both_ends(run.by_depth.filter(~pl.col("interrupted")), "wire_section_ns")


def _cost(lane: Lane) -> str:
    """What the shortest wait costs in bytes; empty where it costs none or nobody knows.

    Beside the worst of two, or the least of more.
    """
    best = lane.waiters[-1]
    pairs = []
    for words, bytes_of in (("heap", _heap_used), ("flash", _flash)):
        ours = bytes_of(best.series)
        others = [
            (value, waiter.spoken)
            for waiter in lane.waiters[:-1]
            if (value := bytes_of(waiter.series)) is not None
        ]
        if ours is not None and others and ours > min(others)[0]:
            pairs.append((words, ours, *min(others)))
    if not pairs:
        return ""
    generator = (
        f"{grouped(ours)} bytes of {words}, {name} {grouped(least)}" for words, ours, least, name in pairs
    )
    return f"{best.spoken} takes {'; '.join(generator)}."


def _heap_used(series: Series) -> int | None:
    return series.run.manifest.memory.used_bytes if series.run.manifest.memory else None


def _flash(series: Series) -> int | None:
    return series.run.manifest.footprint.flash_bytes if series.run.manifest.footprint else None


_HELD_AGAINST = (
    (CRITICAL, INSTRUCTIONS, "median", "the median section of an allocation"),
    (FREE_CRITICAL, FREE_INSTRUCTIONS, "median", "the median section of a free"),
    (FREE_CRITICAL, FREE_INSTRUCTIONS, "max", "the longest section of a free"),
)


def _worse(slower: Waiter, lane: Lane) -> str:
    """Where an allocator is slower than another of its lane, and why: by its instructions."""
    others = [waiter for waiter in lane.waiters if waiter is not slower]
    sentences = []
    for quantity, instructions, statistic, words in _HELD_AGAINST:
        differences = [(value, other) for other in others if (value := _value(other, quantity, statistic))]
        ours = _value(slower, quantity, statistic)
        if ours is None or not differences:
            continue
        theirs, other = min(differences, key=lambda pair: pair[0])
        if ours >= _SLOWER * theirs:
            counts = [_value(waiter, instructions, statistic) for waiter in (slower, other)]
            why = _why(*counts)
            sentences.append(f"{words} is {microseconds(ours)}, {other.spoken}'s {microseconds(theirs)}{why}")
    return f"Where {slower.spoken} is worse: {'; '.join(sentences)}." if sentences else ""


def _value(waiter: Waiter, quantity: Quantity, statistic: str) -> float | None:
    figure: float | None = getattr(waiter.series.run.summary(quantity), statistic)
    return figure


def _why(ours: float | None, theirs: float | None) -> str:
    """` (203 instructions against 161)`; empty where nobody counted."""
    if ours is None or theirs is None:
        return ""
    return f" ({grouped(ours)} instructions against {grouped(theirs)})"


def _without_control(series: Sequence[Series]) -> str:
    """A sentence if a lock holds off the control interrupt too, or if the board has none."""
    without = sum(not could_have_control(member) for member in series)
    masked = sum(has_control(member) and not spares_control(member) for member in series)
    sentences = (
        [f"In {masked} of {len(series)} runs the lock masks the control interrupt too."] if masked else []
    )
    sentences += (
        [f"{without} of {len(series)} runs had no control interrupt, as their board has none."]
        if without
        else []
    )
    return " ".join(sentences)


def _another_counter(series: Sequence[Series]) -> str:
    """A sentence if a timer counted what the page says DWT counted."""
    timers = [counter for member in series if (counter := counter_of(member.run.manifest)) != "DWT"]
    if not timers:
        return ""
    names = " or ".join(dict.fromkeys(timers))
    return f"In {len(timers)} of {len(series)} runs {names} counted the cycles, as the core has no DWT."
