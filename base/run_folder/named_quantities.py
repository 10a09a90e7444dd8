"""The quantities that `--quantity` names: of each its word, the words for people, the statistic."""

from __future__ import annotations

from dataclasses import dataclass

from ..files.errors import TailscopeError

MOST_WORST = 100
"""How many windows of a capture are kept of each quantity at the most."""


@dataclass(frozen=True)
class NamedQuantity:
    """`name` is what a command takes and a file is called by; `words` follow "the longest".

    `key` is the statistic of run.json whose maximum it is.
    """

    name: str
    words: str
    key: str

    @property
    def longest(self) -> str:
        """`the longest critical section of a free`."""
        return f"the longest {self.words}"


SECTION = NamedQuantity("section", "masked section of any operation", "section_ns")
ALLOCATE = NamedQuantity("allocate", "critical section of an allocation", "critical_ns")
FREE = NamedQuantity("free", "critical section of a free", "free_critical_ns")
INTERRUPT = NamedQuantity("interrupt", "interrupt latency", "interrupt_latency_ns")
TASK = NamedQuantity("task", "task latency", "task_latency_ns")

NAMED = {quantity.name: quantity for quantity in (SECTION, ALLOCATE, FREE, INTERRUPT, TASK)}
CHOICE = ", ".join(f"{quantity.name} ({quantity.words})" for quantity in NAMED.values())
"""All of them, for a command's help and for the sentence that refuses another word."""


def named(word: str, error: type[TailscopeError]) -> NamedQuantity:
    """The quantity called `word`. Raises `error`, with a sentence that has all that there are."""
    if word not in NAMED:
        raise error(f"There is no quantity {word!r}; choose {CHOICE}.")
    return NAMED[word]
