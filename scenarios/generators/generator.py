"""What a generator is: a frozen dataclass of parameters that can list its steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.operations import Allocate, Call, Free

MAX_BLOCK_BYTES = 65_536  # of one request


@dataclass(frozen=True, slots=True)
class Step:
    """One operation and where it stands: its phase, its trial and its depth, where there are any."""

    operation: Allocate | Free | Call
    label: str | None = None
    trial: int | None = None
    depth: int | None = None


@dataclass(frozen=True)
class Generator(ABC):
    """Fields are the scenario's parameters (see parameters.whole); equal fields give equal steps.

    A subclass checks what several parameters must obey together in `__post_init__`, with ScenarioError.
    """

    @abstractmethod
    def steps(self) -> Iterator[Step]:
        """The operations in order. May be longer than an image holds: the compiler stops reading then."""
