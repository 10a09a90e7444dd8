"""Why a sample took so long, as far as `./lab explain` stored it: heap, calls, instructions."""

from __future__ import annotations

from typing import Any

from dash import html

from base.run_folder import explanation as stored
from base.run_folder.explanation import Explanation, HeapMap, Replayed, Total
from base.run_folder.named_quantities import NAMED
from dashboards.app.address import sample_address
from dashboards.formatting import grouped
from dashboards.loaded.runs import LoadedRun

_MOST_PIECES = 6_000
_MOST_ROWS = 30


def explained(run: LoadedRun, identity: str, key: str) -> list[Any]:
    """What `./lab explain` stored of the sample `key` itself, or how to get it.

    `identity` is the run's id in the index, for links to other samples.
    """
    every = stored.read_all(run.folder)
    found = [_explanation(told, identity) for told in every.values() if told.key == key]
    if not found:
        words = f"Heap, call stack and instructions of a maximum come from ./lab explain {run.folder.name}."
        found.append(html.P(words, className="hint"))
    return found


def _explanation(told: Explanation, identity: str) -> Any:
    parts: list[Any] = [html.H2(f"Explained: {NAMED[told.quantity].longest}")]
    parts += [html.P(told.place)] if told.place else []
    parts += _beside(told, identity)
    parts += [html.P(sentence, className="hint") for sentence in told.unknown]
    if isinstance(told, Replayed):
        parts += _replayed(told)
    return html.Section(parts, className="explained")


def _beside(told: Explanation, identity: str) -> list[Any]:
    """The operations before and after it, which lead there."""
    near = (("Before it", told.previous), ("After it", told.next))
    return [
        html.P(
            [
                f"{where}: ",
                html.A(f"operation {grouped(one.seq)}", href=sample_address(identity, str(one.seq))),
                f", {one.words}.",
            ]
        )
        for where, one in near
        if one is not None
    ]


def _replayed(told: Replayed) -> list[Any]:
    edges = f" from {told.begins} to {told.ends}" if told.begins else ""
    replayed = (
        f"{grouped(told.instructions)} instructions in {grouped(told.cycles)} cycles{edges}, replayed on "
        "the virtual board and equal to the capture to the sample."
    )
    counts = ("cycles", "times")
    stack = [(frame.place, _source(frame.source, told)) for frame in told.stack]
    return [
        html.P(replayed),
        *_table("What the time went to", ("cycles", "share", "what", "source"), _parts(told)),
        *_table("Cycles by function", (*counts, "function", "source"), _totals(told.functions, told)),
        *_table("Call stack", ("in", "source"), stack),
        *_table(
            "Most expensive instructions", (*counts, "instruction", "source"), _totals(told.dearest, told)
        ),
        *_table("Most expensive source lines", (*counts, "in", "source"), _totals(told.lines, told)),
        *_heap(told.heap),
    ]


def _parts(told: Replayed) -> list[tuple[Any, ...]]:
    """The parts of the time in their order, with the share of each."""
    return [
        (
            grouped(part.cycles),
            f"{100 * part.cycles / max(told.cycles, 1):.1f} %",
            f"{part.words}, by {part.place}" if part.place and part.what != "exception" else part.words,
            _source(part.source, told),
        )
        for part in told.parts[:_MOST_ROWS]
    ]


def _totals(totals: list[Total], told: Replayed) -> list[tuple[Any, ...]]:
    return [
        (grouped(one.cycles), f"{grouped(one.executions)} ×", one.name, _source(one.source, told))
        for one in totals[:_MOST_ROWS]
    ]


def _source(source: str, told: Replayed) -> Any:
    """The place of a source line, and its text if that is known."""
    text = told.sources.get(source, "").strip()
    return [source, html.Br(), html.Code(text)] if text else source


def _table(title: str, heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[Any]:
    """Nothing without rows."""
    if not rows:
        return []
    head = html.Thead(html.Tr([html.Th(words, scope="col") for words in heads]))
    body = html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows])
    box = {"role": "region", "aria-label": title, "tabIndex": "0"}
    table = html.Table([head, body], className="comparison told")
    return [html.Section([html.H3(title), html.Div(table, className="scroll", **box)])]  # type: ignore[arg-type]


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
        html.P(
            [
                html.Span([html.Span(className=f"key {what}"), f"{what}: {_pieces(heap, what)}"])
                for what, count in counts.items()
                if count
            ],
            className="heap-words",
        ),
        html.P(
            f"From its first byte to the last, {grouped(heap.region_bytes)} bytes. {heap.note}",
            className="hint",
        ),
    ]


def _pieces(heap: HeapMap, what: str) -> str:
    """`12 pieces, 3,072 bytes, the largest 1,024`."""
    sizes = [piece.bytes for piece in heap.pieces if piece.what == what]
    noun = "piece" if len(sizes) == 1 else "pieces"
    return f"{grouped(len(sizes))} {noun}, {grouped(sum(sizes))} bytes, the largest {grouped(max(sizes))}"
