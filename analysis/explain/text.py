"""An explanation as text for the terminal."""

from __future__ import annotations

from collections import Counter

from base.microseconds import microseconds
from base.run_folder.explanation import Anatomy, Explanation, Unreplayed
from base.run_folder.named_quantities import NAMED

_MOST = 8
"""So many functions, instructions and lines are shown."""
_PIECES = ("live", "free", "unknown")


def as_text(replay: Explanation, made_of: Anatomy | None = None) -> str:
    """The explanation as a screenful of lines, with what it is `made_of` if that is known."""
    value = replay.maximum.at_least + microseconds(replay.value_ns)
    doubt = "" if replay.verdict == "complete" else f" (the run is {replay.verdict})"
    lines = [
        f"The longest {NAMED[replay.quantity].words} in {replay.scenario} with {replay.allocator}: "
        f"{value}{doubt}",
        *([made_of.sentence] if made_of else []),
        *_operation(replay),
    ]
    if isinstance(replay, Unreplayed):
        return "\n".join([*lines, *replay.unknown])

    def share(cycles: int) -> str:
        return f"  {cycles:>8,} {cycles / max(replay.cycles, 1):>6.1%}"

    # Each thing that took time, the most first; repetitions are added up.
    spent: Counter[tuple[str, str, str]] = Counter()
    for part in replay.parts:
        by = ("", "") if part.what == "exception" else (part.place, part.source)
        spent[part.words, *by] += part.cycles
    lines += [
        f"Replayed on the virtual board, equal to the capture to the sample: {replay.instructions:,} "
        f"instructions in {replay.cycles:,} cycles.",
        "",
        "what the time went to",
        *(
            f"{share(cycles)}  {words}{f', by {place}  {source}' if place else ''}"
            for (words, place, source), cycles in spent.most_common()
        ),
        "",
        "cycles by function",
        *(
            f"{share(total.cycles)} {total.executions:>8,}×  {total.name}"
            for total in replay.functions[:_MOST]
        ),
        "",
        "most expensive source lines",
        *(
            f"{share(line.cycles)}  {line.source:<24} {replay.sources.get(line.source, '')}".rstrip()
            for line in replay.lines[:_MOST]
        ),
        "",
        f"call stack at cycle {replay.moment.cycle:,}",
        *(f"  {frame.shown:<40} {frame.source}" for frame in replay.stack),
    ]
    sizes = {what: [piece.bytes for piece in replay.heap.pieces if piece.what == what] for what in _PIECES}
    heap = ", ".join(
        f"{len(sizes):,} {what} ({sum(sizes):,} bytes, the largest {max(sizes):,})"
        for what, sizes in sizes.items()
        if sizes
    )
    lines += ["", f"heap before it: {heap}", f"  {replay.heap.note}"]
    if made_of and made_of.search and (visited := made_of.search.visited):
        first, last = (f"{made_of.search.region_address + visited[at].offset:#010x}" for at in (0, -1))
        noun = "Blocks" if made_of.search.blocks else "Places"
        lines.append(f"  {noun} that the search visited: {len(visited):,}, {first} first, {last} last.")
    return "\n".join(lines)


def _operation(explanation: Explanation) -> list[str]:
    """Lines on when it was, and on the operation that it was or fell into."""
    maximum, own = explanation.maximum, explanation.operation
    since = f"{explanation.start_ns / 1e9:.9f} s after the capture's start"
    lines = [explanation.place, f"Sample {explanation.start_sample:,}, {since}."]
    if own is not None:
        label = f", {own.label}" if own.label and own.label not in own.words else ""
        probes = f", {maximum.probes:,} probes" if maximum.probes else ""
        live = "" if maximum.live is None else f", {maximum.live:,} blocks live after it"
        lines.append(f"Operation {own.seq:,}: {own.words}{label}{probes}{live}.")
    return lines
