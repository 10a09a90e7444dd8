"""The document of latencies and sections, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.program.latency.answers import ENTRY_ALONE
from analysis.program.masks.text import HEADING_OF_NOTES
from base.microseconds import microseconds
from base.ordinals import ordinal
from simulator.outputs import Note

_MOST_CAUSES = 8
_MOST_TOTALS = 8


def as_text(document: dict[str, Any]) -> str:
    """The document of as_json() as lines."""
    lines = [*document["reasons"], *([document["polls"]] if document["polls"] else [])]
    if "latency" in document:
        lines += _latency(document["latency"])
    for section in document.get("sections", ()):
        lines += [*([""] if lines else []), *_section(section)]
    if document["noted"]:
        lines += ["", HEADING_OF_NOTES, *(f"  {Note.of(row)}" for row in document["noted"])]
    return "\n".join(lines)


def _latency(document: dict[str, Any]) -> Iterator[str]:
    window = document["window"]
    yield f"{document['irq']}: {_headline(document)}"
    yield (
        f"  pended at {_which(document)} of {window['first_cycle']:,} to {window['end_cycle'] - 1:,}, "
        f"{document['pends']:,} pends, each in a copy of the undisturbed run"
    )
    yield f"  to the first instruction of {document['handler']}"
    yield from _start_up(document)
    if document["enabled_by"] == "board":
        yield "  The board enabled it: the program itself may not."
    if document["taken"]:
        yield from _distribution("latency", document["cycles"], document["ns"])
    if window["every"] not in (1, None):
        yield "  The worst may lie between: narrow it by --from, --until or --around, or use --every 1."
    yield ""
    yield "What they waited for most"
    for cause in document["causes"][:_MOST_CAUSES]:
        raised = f", set at {_place(cause['raised'])}" if cause["raised"] else ""
        cycles, pends = f"{cause['worst_cycles']:>9,}", f"{cause['pends']:>9,}"
        yield f"  {cycles} cycles at worst  {pends} pends  {cause['cause']}{raised}"
    for number, worst in enumerate(document["worst"], 1):
        yield ""
        yield (
            f"Worst of its kind, {number}: {worst['cycles']:,} cycles ({microseconds(worst['ns'])}), "
            f"pended at cycle {worst['pended']:,} in {_place(worst['at'])}{_task(worst)}"
        )
        for wait in worst["waits"]:
            raised = f", set at {_place(wait['raised'])}" if wait["raised"] else ""
            yield f"  {wait['cycles']:>9,} cycles  {wait['cause']}{raised}"
        yield from _explained(worst)


def _start_up(document: dict[str, Any]) -> Iterator[str]:
    """What of the program the figures leave out."""
    start, early = document["start"], document["start_up"]
    why = f" ({start['why']})" if start["why"] else ""
    if start["cycle"] is None:
        yield f"  All of the run counts: it ended before {start['until']}{why}."
    elif early:
        raised = f", set at {_place(early['raised'])}" if early["raised"] else ""
        yield (
            f"  Start-up, until {start['until']}{why}, is left out: pended from cycle "
            f"{early['first_cycle']:,} on, the longest wait is {early['cycles']:,} cycles "
            f"({microseconds(early['ns'])}), {early['cause']}{raised}."
        )


def _which(document: dict[str, Any]) -> str:
    """`every cycle`, or those of the window that were pended at."""
    every = document["window"]["every"]
    if every is None:
        return f"{document['pends']:,} cycles drawn with seed {document['seed']}"
    return "every cycle" if every == 1 else f"every {ordinal(every)} cycle"


def _headline(document: dict[str, Any]) -> str:
    if not document["worst"]:
        return "no pend was answered"
    worst = document["worst"][0]
    waits = [wait for wait in worst["waits"] if wait["cause"] != ENTRY_ALONE] or worst["waits"]
    held = max(waits, key=lambda wait: wait["cycles"])
    raised = f", set at {_place(held['raised'])}" if held["raised"] else ""
    waited = f"{worst['cycles']:,} cycles ({microseconds(worst['ns'])})"
    return f"the longest wait is {waited}, {held['cause']}{raised}."


def _section(document: dict[str, Any]) -> Iterator[str]:
    nested = f", {document['nested']:,} of them within another" if document["nested"] else ""
    yield f"{document['section']}: passed {_times(document['count'])}{nested}"
    yield from _distribution("duration", document["cycles"], document["ns"])
    for key, words in (
        ("restarted", "began, and began again before they ended: only the last beginning counts"),
        ("unbegun", "ended without having begun"),
        ("unended", "had not ended when the run did"),
        ("crossed", "began in one task or handler and ended in another"),
    ):
        if document[key]:
            yield f"  {document[key]:,} {words}"
    if early := document["start_up"]:
        yield (
            f"  Start-up, until {document['start']['until']}, is left out: passed {_times(early['count'])}, "
            f"the longest {early['cycles']:,} cycles ({microseconds(early['ns'])})"
        )
    worst = document["worst"][0]
    first = f"from cycle {worst['begin_cycle']:,} on{_task(worst)},"
    yield f"  longest: {worst['cycles']:,} cycles ({microseconds(worst['ns'])}) {first}"
    yield f"  from {_place(worst['begin'])} to {_place(worst['end'])}"
    yield from _explained(worst)


def _task(worst: dict[str, Any]) -> str:
    return f", in task {worst['task']}" if worst["task"] else ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _distribution(name: str, cycles: dict[str, Any], ns: dict[str, Any]) -> Iterator[str]:
    shares = ("min", "median", "p99", "p99_9", "max")
    texts = [f"{share.replace('_', '.')} {cycles[share]:,}" for share in shares if cycles[share] is not None]
    yield f"  {name} in cycles: {', '.join(texts)} ({microseconds(ns['max'])})"


def _explained(worst: dict[str, Any]) -> Iterator[str]:
    if worst["stack"]:
        yield "  calls, innermost first: " + " < ".join(_place(place) for place in worst["stack"])
    for title, totals in (("function", worst["functions"]), ("instruction", worst["dearest"])):
        if totals:
            yield f"  cycles by {title}"
        for total in totals[:_MOST_TOTALS]:
            source = f"  {total['source']}" if total["source"] else ""
            yield f"  {total['cycles']:>9,} {total['executions']:>8,}×  {total['name']}{source}"


def _place(place: dict[str, Any]) -> str:
    likely = "likely " if place.get("likely") else f"{place['lock']} in " if place.get("lock") else ""
    where = f" ({place['file']}:{place['line']})" if place["file"] else ""
    return f"{likely}{place['function']}{where}"
