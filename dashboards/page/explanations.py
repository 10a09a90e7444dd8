"""What `./lab explain` left in a run folder (docs/reference/explain.md), for a click to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from base import anatomy
from base.anatomy import MOST_CALLS, MOST_VISITED, Anatomy
from base.run_folder.explanation import Explanation, Operation, Part, Replayed, Total, read_all
from base.run_folder.named_quantities import NAMED
from dashboards.loaded.runs import LoadedRun

# A forged file must not fill the page.
_MOST_PIECES = 4_000
_MOST_TOTALS = 8
_MOST_FRAMES = 64
_MOST_PARTS = 100
_MOST_CHARACTERS = 300
_MOST_BANDS = 500


def explanations(run: LoadedRun) -> dict[str, list[dict[str, Any]]]:
    """The explanations of each selection key. A damaged file is left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    made_of = anatomy.read_all(run.folder)
    for explanation in read_all(run.folder).values():
        packed = _packed(explanation)
        known = made_of.get(explanation.quantity)
        # Another file than the explanation's own: it may be that of an older one.
        if isinstance(explanation, Replayed) and known is not None and known.cycles == explanation.cycles:
            packed["anatomy"] = _anatomy(known)
        of_key = found.setdefault(explanation.key, [])
        same = next((other for other in of_key if _same(other, packed)), None)
        if same is None:
            of_key.append(packed)
        else:
            same["words"] += f", and {packed['words']}"
    return found


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """True if both explain the same stretch of time: the longest section may be an allocation's."""
    own = ("quantity", "words")
    return all(second.get(name) == value for name, value in first.items() if name not in own)


def _packed(explanation: Explanation) -> dict[str, Any]:
    meant = NAMED[explanation.quantity]
    packed: dict[str, Any] = {
        "quantity": explanation.quantity,
        "words": meant.longest,
        "value_ns": explanation.value_ns,
        "start_sample": explanation.start_sample,
        "end_sample": explanation.end_sample,
        "start_ns": explanation.start_ns,
        "begins": _cut(explanation.begins),
        "ends": _cut(explanation.ends),
        "place": _cut(explanation.place),
        "operation": _operation(explanation.operation),
        "previous": _operation(explanation.previous),
        "next": _operation(explanation.next),
        "unknown": [_cut(sentence) for sentence in explanation.unknown[:_MOST_TOTALS]],
    }
    if not isinstance(explanation, Replayed):
        return packed
    heap = explanation.heap
    sources = _Sources(explanation)
    return packed | {
        "cycles": explanation.cycles,
        "instructions": explanation.instructions,
        "stack": [
            [_cut(frame.shown), *sources.line(frame.source)] for frame in explanation.stack[:_MOST_FRAMES]
        ],
        "parts": [_part(part, sources) for part in explanation.parts[:_MOST_PARTS]],
        "functions": [_total(total, sources) for total in explanation.functions[:_MOST_TOTALS]],
        "dearest": [_total(total, sources) for total in explanation.dearest[:_MOST_TOTALS]],
        "lines": [_total(total, sources) for total in explanation.lines[:_MOST_TOTALS]],
        "region_bytes": heap.region_bytes,
        "pieces": [[piece.offset, piece.bytes, piece.what] for piece in heap.pieces[:_MOST_PIECES]],
        "note": _cut(heap.note),
    }


def _anatomy(known: Anatomy) -> dict[str, Any]:
    search, calls = known.search, known.calls[:MOST_CALLS]
    called = {call.source for call in calls}
    return {
        "sentence": _cut(known.sentence),
        "cycles": known.cycles,
        "loop": None
        if known.loop is None
        else {"place": _cut(known.loop.place), "source": _cut(known.loop.source)},
        "bands": [
            [band.what, _cut(band.words), band.begin_cycle, band.cycles] for band in known.bands[:_MOST_BANDS]
        ],
        "calls": [
            [call.depth, _cut(call.name), call.begin_cycle, call.cycles, call.own_cycles, _cut(call.source)]
            for call in calls
            if call.depth < _MOST_FRAMES
        ],
        "search": None
        if search is None
        else {
            "region_address": search.region_address,
            "asked_bytes": search.asked_bytes,
            "blocks": search.blocks,
            "visited": [[block.offset, block.bytes] for block in search.visited[:MOST_VISITED]],
            "served": None if search.served is None else [search.served.offset, search.served.bytes],
        },
        "sources": {_cut(line): _cut(text) for line, text in known.sources.items() if line in called},
    }


class _Sources:
    """The text of the source lines."""

    def __init__(self, explanation: Replayed) -> None:
        self._text = explanation.sources

    def line(self, source: str) -> tuple[str, str]:
        """The place of a line and its text; empty if that is not known."""
        return _cut(source), _cut(self._text.get(source, ""))


def _operation(operation: Operation | None) -> dict[str, Any] | None:
    """Its number, which is its key, and what it was."""
    if operation is None:
        return None
    label = operation.label
    return {
        "seq": operation.seq,
        "kind": _cut(operation.kind),
        "words": _cut(operation.words),
        "label": None if label is None else _cut(label),
        "start_sample": operation.start_sample,
        "end_sample": operation.end_sample,
    }


def _part(part: Part, sources: _Sources) -> dict[str, Any]:
    source, text = sources.line(part.source)
    return {
        "what": part.what,
        "words": _cut(part.words),
        "begin_cycle": part.begin_cycle,
        "cycles": part.cycles,
        "place": _cut(part.place),
        "source": source,
        "text": text,
    }


def _total(total: Total, sources: _Sources) -> list[Any]:
    return [_cut(total.name), total.cycles, total.executions, *sources.line(total.source)]


def _cut(text: str) -> str:
    return text[:_MOST_CHARACTERS]
