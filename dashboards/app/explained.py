"""Why a sample took so long, as far as `./lab explain` stored it: heap, calls, instructions."""

from __future__ import annotations

from typing import Any

from dash import html

from capture.run_folder import explanation as stored
from capture.run_folder.explanation import Explanation, HeapMap, Replayed, Total
from dashboards.formatting import grouped
from dashboards.loaded.runs import LoadedRun

_MOST_PIECES = 6_000
_MOST_ROWS = 30


def explained(run: LoadedRun, key: str) -> list[Any]:
    """What `./lab explain` stored of the sample `key` itself, or how to get it."""
    every = stored.read_all(run.folder)
    found = [_explanation(told) for told in every.values() if told.key == key]
    if not found:
        words = f"Heap, call stack and instructions of a maximum come from ./lab explain {run.folder.name}."
        found.append(html.P(words, className="hint"))
    return found


def _explanation(told: Explanation) -> Any:
    parts: list[Any] = [html.H2(f"Explained: {told.quantity}")]
    parts += [html.P(sentence, className="hint") for sentence in told.unknown]
    if isinstance(told, Replayed):
        parts.append(
            html.P(
                f"{grouped(told.instructions)} instructions in {grouped(told.cycles)} cycles, replayed on "
                "the virtual board and equal to the capture to the sample."
            )
        )
        counts = ("cycles", "times")
        parts += [
            _table("Call stack", ("in", "source"), [(frame.place, frame.source) for frame in told.stack]),
            _table("Cycles by function", (*counts, "function", "source"), _totals(told.functions)),
            _table("Most expensive instructions", (*counts, "instruction", "source"), _totals(told.dearest)),
            *_heap(told.heap),
        ]
    return html.Section(parts, className="explained")


def _totals(totals: list[Total]) -> list[tuple[str, ...]]:
    return [
        (grouped(one.cycles), grouped(one.executions), one.name, one.source) for one in totals[:_MOST_ROWS]
    ]


def _table(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Any:
    head = html.Thead(html.Tr([html.Th(words, scope="col") for words in heads]))
    body = html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows])
    return html.Section(
        [html.H3(title), html.Div(html.Table([head, body], className="comparison told"), className="scroll")]
    )


def _heap(heap: HeapMap) -> list[Any]:
    """The region as one strip: its pieces in proportion, those too thin to see merged with none."""
    total = max(heap.region_bytes, 1)
    pieces = [
        html.Span(
            className=f"piece {piece.what}",
            style={
                "left": f"{100 * piece.offset / total:.4f}%",
                "width": f"{100 * piece.bytes / total:.4f}%",
            },
            title=f"{piece.what}: {grouped(piece.bytes)} bytes at {grouped(piece.offset)}",
        )
        for piece in heap.pieces[:_MOST_PIECES]
    ]
    counts = {what: sum(piece.what == what for piece in heap.pieces) for what in ("live", "free", "unknown")}
    words = ", ".join(f"{grouped(count)} {what}" for what, count in counts.items() if count)
    return [
        html.H3("Heap before it"),
        html.Div(pieces, className="heap-map", role="img", **{"aria-label": f"Heap map: {words}"}),  # type: ignore[arg-type]
        html.P(f"{words} pieces of {grouped(heap.region_bytes)} bytes. {heap.note}", className="hint"),
    ]
