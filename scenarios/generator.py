"""What a generator is: a frozen dataclass of parameters that lists the steps of a scenario. All
that the file of one needs is here, but for random numbers (generators/xorshift.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from scenarios.errors import ScenarioError
from scenarios.operations import MAX_ENTRIES, MAX_SLOTS, Allocate, Call, Free
from scenarios.parameters import choice, file_name, whole
from scenarios.place import Place

__all__ = [
    "MAX_ENTRIES",
    "MAX_SLOTS",
    "Allocate",
    "Call",
    "Free",
    "Place",
    "ScenarioError",
    "choice",
    "file_name",
    "whole",
]
"""Beside what is declared here."""

MAX_BLOCK_BYTES = 65_536  # of one request


def block_size() -> Any:
    """Declares a field: the bytes of a request."""
    return whole(1, MAX_BLOCK_BYTES)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation and its place in the scenario.

    `label` names its phase, `trial` counts from 1, `depth` counts free blocks. None where there is
    none.
    """

    operation: Allocate | Free | Call
    label: str | None = None
    trial: int | None = None
    depth: int | None = None


@dataclass(frozen=True)
class Generator(ABC):
    """Its fields are the scenario's parameters (parameters.whole). Equal fields give equal steps.

    A least value named `…_min_…` may not be above its `…_max_…`. If more parameters must fit
    together, the subclass checks that in `__post_init__` after calling this one. Both raise
    ScenarioError.
    """

    FILLS: ClassVar[bool] = False
    """Whether it asks for more than a heap has, on purpose."""
    OF_64_KIB: ClassVar[Mapping[str, int]] = {}
    """Parameters that a board with a smaller heap lowers, each with the most that 64 KiB have."""

    def __post_init__(self) -> None:
        values: dict[str, int | str] = vars(self)
        for least, value in values.items():
            most = least.replace("_min_", "_max_")
            if most != least and value > values[most]:  # type: ignore[operator]  # both are numbers
                raise ScenarioError(f"{least} is {value}, above {most}, {values[most]}; exchange them.")

    @abstractmethod
    def steps(self) -> Iterator[Step]:
        """The operations in order. They may outgrow an image: the compiler then stops reading."""

    def origin(self) -> dict[str, int | str]:
        """What a run's parameters say beside the fields."""
        return {}

    def on_small(self, place: Place) -> dict[str, int]:
        """The parameters that ask the same question of a board with a smaller heap; none where the
        scenario is the same on every board.
        """
        return {name: min(getattr(self, name), place.share(most)) for name, most in self.OF_64_KIB.items()}

    def fitted(self, heap_bytes: int, place: Place) -> Generator:
        """Itself, as it is run on a board with such a heap, with all that this decides.

        Raises ScenarioError where no allocator could run it there.
        """
        del heap_bytes, place  # few ask
        return self
