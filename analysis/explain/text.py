"""An explanation as text for the terminal."""

from __future__ import annotations

from capture.run_folder.explanation import Explanation, HeapMap, Total, Unreplayed
from capture.run_folder.manifest import Maximum
from capture.run_folder.named_quantities import NAMED

_KINDS = {"A": "allocation", "O": "allocation, out of memory", "F": "free"}
_MOST_FUNCTIONS = 8
_MOST_INSTRUCTIONS = 8


def as_text(found: Explanation) -> str:
    """The explanation as a screenful of lines."""
    lines = [_title(found), *_operation(found.maximum)]
    if isinstance(found, Unreplayed):
        return "\n".join([*lines, *found.unknown])
    lines += [
        f"Replayed on the virtual board, equal to the capture to the sample: {found.instructions:,} "
        f"instructions in {found.cycles:,} cycles.",
        "",
        *_totals("cycles by function", found.functions[:_MOST_FUNCTIONS], found.cycles),
        "",
        *_totals("most expensive instructions", found.dearest[:_MOST_INSTRUCTIONS], found.cycles),
        "",
        f"call stack at cycle {found.moment.cycle:,}",
        *(f"  {frame.place:<40} {frame.source}" for frame in found.stack),
        "",
        *_heap(found.heap),
    ]
    return "\n".join(lines)


def _title(found: Explanation) -> str:
    value = f"{found.value_ns:,.1f} ns"
    doubt = "" if found.verdict == "complete" else f" (the run is {found.verdict})"
    words = NAMED[found.quantity].words
    return f"The longest {words} in {found.scenario} with {found.allocator}: {value}{doubt}"


def _operation(maximum: Maximum) -> list[str]:
    if maximum.seq is None or maximum.size is None or maximum.live is None:
        return ["The stimulus fell outside of all operations."]
    label = f", {maximum.label}" if maximum.label else ""
    kind = _KINDS.get(maximum.kind or "", "operation")
    probes = "" if maximum.probes is None else f", {maximum.probes:,} probes"
    blocks = f"{maximum.live:,} blocks live after it"
    return [f"Operation {maximum.seq:,}: {kind} of {maximum.size:,} bytes{label}{probes}, {blocks}."]


def _totals(title: str, totals: list[Total], cycles: int) -> list[str]:
    rows = [
        f"  {total.cycles:>8,} {total.cycles / max(cycles, 1):>6.1%} {total.executions:>8,}×  "
        f"{total.name}{'  ' + total.source if total.source else ''}"
        for total in totals
    ]
    return [title, *rows]


def _heap(heap: HeapMap) -> list[str]:
    counts = {
        what: [piece.bytes for piece in heap.pieces if piece.what == what]
        for what in ("live", "free", "unknown")
    }
    told = ", ".join(
        f"{len(sizes):,} {what} ({sum(sizes):,} bytes, the largest {max(sizes):,})"
        for what, sizes in counts.items()
        if sizes
    )
    return [f"heap before it: {told}", f"  {heap.note}"]
