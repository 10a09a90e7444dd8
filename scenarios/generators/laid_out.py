"""Blocks laid out on purpose: a heap is brought into a state step by step, then looked at once."""

from __future__ import annotations

from collections.abc import Iterable

from scenarios.generator import Step
from scenarios.operations import Allocate, Free

SETUP = "setup"
SPACER_BYTES = 8


class Layout:
    """Writes down the steps. What only prepares is not measured and has the label `setup`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._blocks = 0

    def block(self, size: int) -> int:
        """Allocates a block; returns its slot. Blocks that follow each other are neighbours."""
        self._blocks += 1
        self.steps.append(Step(Allocate(self._blocks - 1, size, measured=False), SETUP))
        return self._blocks - 1

    def fenced(self, size: int) -> int:
        """A block, and behind it a small one that stays, so that nothing merges across it."""
        slot = self.block(size)
        self.block(SPACER_BYTES)
        return slot

    def free(self, slots: Iterable[int]) -> None:
        self.steps += [Step(Free(slot, measured=False), SETUP) for slot in slots]

    def measure_allocation(self, size: int, label: str) -> list[Step]:
        """All steps, and last the request that the layout was made for."""
        return [*self.steps, Step(Allocate(self._blocks, size), label)]

    def measure_free(self, slot: int, label: str) -> list[Step]:
        """All steps, and last the free that the layout was made for."""
        return [*self.steps, Step(Free(slot), label)]
