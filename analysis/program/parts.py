"""A report: tables and sentences, of which the terminal and the page show the same; its document,
which is the dump of its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeVar

from base.microseconds import microseconds
from base.text_table import TextTable, printed
from simulator.outputs import Note

_MOST_TOTALS = 8
_MOST_IN_A_CELL = 6


@dataclass(frozen=True)
class Part:
    """A table with a title, and sentences below it. The columns `numbers` are figures. The terminal
    shows the first `most` lines, and in a line of its own what follows a line break in a cell.
    """

    title: str
    headings: tuple[str, ...] = ()
    lines: Sequence[tuple[str, ...]] = ()
    sentences: Sequence[str] = ()
    numbers: range = range(0)
    most: int = 12


def as_text(sentences: Iterable[str], parts: Iterable[Part], everything: bool = False) -> str:
    """Sentences that come first, and all parts of which there is something to say; with
    `everything` all lines of each.
    """
    blocks: list[str | TextTable] = [*sentences] or [""]
    for part in parts:
        shown = part.lines if everything else part.lines[: part.most]
        if shown:
            blocks.append(TextTable(part.title, part.headings, shown, part.numbers))
        elif part.sentences:
            blocks += ["", part.title]
        more = len(part.lines) - len(shown)
        blocks += [f"and {more:,} more (--json has all)"] if more else []
        blocks += part.sentences
    return printed(blocks)


def length(cycles: int, ns: float) -> str:
    """`1,001 cycles (62.56 µs)`."""
    return f"{cycles:,} cycles ({microseconds(ns)})"


def few(words: Sequence[str]) -> str:
    """The first few of some words, and how many more there are."""
    more = len(words) - _MOST_IN_A_CELL
    return ", ".join([*words[:_MOST_IN_A_CELL], *([f"and {more:,} more"] if more > 0 else [])])


def spent(title: str, totals: Sequence[Any], cycles: int) -> Part:
    """What the cycles of something went into: totals as in explain."""
    lines = [
        (f"{of.cycles:,}", f"{of.cycles / max(cycles, 1):.1%}", f"{of.executions:,}×", of.name, of.source)
        for of in totals
    ]
    return Part(title, ("cycles", "of all", "", "what", "source"), lines, numbers=range(3), most=_MOST_TOTALS)


def noted(notes: Iterable[Note]) -> Part:
    """What the program did that is odd, and that did not stop it."""
    title = "Noted and gone on with: what the manual does not allow, or is not modelled"
    return Part(title, sentences=[f"  {note}" for note in notes])


T = TypeVar("T")
Hidden = Annotated[T, "no part of the document"]


def dump(value: Any) -> Any:
    """What JSON has of a report. An empty word is null."""
    if hasattr(value, "as_json"):
        return value.as_json()
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, Mapping):
        return {name: dump(content) for name, content in value.items()}
    return [*map(dump, value)] if isinstance(value, (tuple, list)) else None if value == "" else value


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass but those that are hidden, under the name that its `NAMES` have for
    them. An address is hexadecimal.
    """
    names = getattr(value, "NAMES", {})
    shown = {
        names.get(of.name, of.name): dump(getattr(value, of.name))
        for of in fields(value)
        if "Hidden[" not in str(of.type)
    }
    return shown | ({"address": f"{value.address:#010x}"} if "address" in shown else {})


def as_json(report: Any) -> dict[str, Any]:
    """A report as JSON has it, with the heading of its subject."""
    return {**report.subject.heading, **dump(report)}
