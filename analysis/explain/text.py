"""An explanation as text for the terminal."""

from __future__ import annotations

from collections import defaultdict

from base.anatomy import Anatomy, Block, Search
from base.microseconds import microseconds
from base.run_folder.explanation import Explanation, HeapMap, Part, Replayed, Total, Unreplayed
from base.run_folder.named_quantities import NAMED

_MOST_FUNCTIONS = 8
_MOST_INSTRUCTIONS = 8


def as_text(replay: Explanation, made_of: Anatomy | None = None) -> str:
    """The explanation as a screenful of lines, with what it is `made_of` if that is known."""
    lines = [_title(replay), *([made_of.sentence] if made_of else []), *_operation(replay)]
    if isinstance(replay, Unreplayed):
        return "\n".join([*lines, *replay.unknown])
    lines += [
        f"Replayed on the virtual board, equal to the capture to the sample: {replay.instructions:,} "
        f"instructions in {replay.cycles:,} cycles, from {replay.begins} to {replay.ends}.",
        "",
        *_parts(replay.parts, replay.cycles),
        "",
        *_totals("cycles by function", replay.functions[:_MOST_FUNCTIONS], replay.cycles),
        "",
        *_totals("most expensive instructions", replay.dearest[:_MOST_INSTRUCTIONS], replay.cycles),
        "",
        *_lines(replay),
        "",
        f"call stack at cycle {replay.moment.cycle:,}",
        *(f"  {frame.shown:<40} {frame.source}" for frame in replay.stack),
        "",
        *_heap(replay.heap),
        *(_search(made_of.search, replay.maximum.probes) if made_of and made_of.search else []),
    ]
    return "\n".join(lines)


def _title(explanation: Explanation) -> str:
    value = explanation.maximum.at_least + microseconds(explanation.value_ns)
    doubt = "" if explanation.verdict == "complete" else f" (the run is {explanation.verdict})"
    words = NAMED[explanation.quantity].words
    return f"The longest {words} in {explanation.scenario} with {explanation.allocator}: {value}{doubt}"


def _operation(explanation: Explanation) -> list[str]:
    """Lines on the operation that it was or fell into, when, and its neighbours."""
    maximum, own = explanation.maximum, explanation.operation
    lines = [explanation.place]
    if own is not None:
        label = f", {own.label}" if own.label and own.label not in own.words else ""
        probes = f", {maximum.probes:,} probes" if maximum.probes else ""
        live = "" if maximum.live is None else f", {maximum.live:,} blocks live after it"
        lines.append(f"Operation {own.seq:,}: {own.words}{label}{probes}{live}.")
    beside = [
        f"{which} it operation {operation.seq:,}, {operation.words}"
        for which, operation in (("before", explanation.previous), ("after", explanation.next))
        if operation is not None
    ]
    since = (
        ""
        if explanation.start_ns is None
        else f", {explanation.start_ns / 1e9:.9f} s after the capture's start"
    )
    lines.append(f"Sample {explanation.start_sample:,}{since}{'; ' if beside else ''}{'; '.join(beside)}.")
    return lines


def _parts(parts: list[Part], cycles: int) -> list[str]:
    """A line for each thing that took time, the most first; repetitions are added up."""
    sums: dict[tuple[str, str, str], int] = defaultdict(int)
    for part in parts:
        by = ("", "") if part.what == "exception" else (part.place, part.source)
        sums[part.words, *by] += part.cycles
    rows = [
        f"{_share(taken, cycles)}  {words}{f', by {place}  {source}' if place else ''}"
        for (words, place, source), taken in sorted(sums.items(), key=lambda item: -item[1])
    ]
    return ["what the time went to", *rows]


def _share(taken: int, cycles: int) -> str:
    return f"  {taken:>8,} {taken / max(cycles, 1):>6.1%}"


def _lines(replay: Replayed) -> list[str]:
    rows = [
        f"{_share(line.cycles, replay.cycles)}  {line.source:<24} "
        f"{replay.sources.get(line.source, '')}".rstrip()
        for line in replay.lines[:_MOST_INSTRUCTIONS]
    ]
    return ["most expensive source lines", *rows]


def _totals(title: str, totals: list[Total], cycles: int) -> list[str]:
    rows = [
        f"{_share(total.cycles, cycles)} {total.executions:>8,}×  "
        f"{total.name}{'  ' + total.source if total.source else ''}"
        for total in totals
    ]
    return [title, *rows]


def _heap(heap: HeapMap) -> list[str]:
    counts = {
        what: [piece.bytes for piece in heap.pieces if piece.what == what]
        for what in ("live", "free", "unknown")
    }
    words = ", ".join(
        f"{len(sizes):,} {what} ({sum(sizes):,} bytes, the largest {max(sizes):,})"
        for what, sizes in counts.items()
        if sizes
    )
    return [f"heap before it: {words}", f"  {heap.note}"]


def _search(search: Search, probes: int | None) -> list[str]:
    """What the search visited, and what it gave, with addresses.

    `probes` is the allocator's own count: of blocks and classes on seglist, of bitmaps on TLSF.
    """

    def at(block: Block) -> str:
        return f"{search.region_address + block.offset:#010x}"

    lines = []
    if search.visited:
        noun = "block" if search.blocks else "place"
        visited = f"{len(search.visited):,} {noun}{'' if len(search.visited) == 1 else 's'}"
        ends = at(search.visited[0])
        ends += f" first, {at(search.visited[-1])} last" if len(search.visited) > 1 else ""
        lines.append(f"  The search visited {visited}: {ends}.")
        if search.blocks and probes and probes > len(search.visited):
            lines.append(f"  Its {probes:,} probes count looks at blocks or at the index.")
    if search.served:
        of = f"of a block of {search.served.bytes:,} bytes" if search.blocks else "as a block"
        lines.append(f"  It served {search.asked_bytes:,} bytes {of} at {at(search.served)}.")
    return lines
