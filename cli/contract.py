"""`./lab contract`: holds allocators to the contract, with progress."""

from __future__ import annotations

from analysis.contract.contract import Contract, hold
from cli import progress
from firmware.build import outside


def run(allocator: str) -> list[Contract]:
    """The contract of each of these allocators, separated by commas. Raises TailscopeError."""
    with progress.shown() as tell:
        return [hold(name, tell) for name in outside.admit(outside.words(allocator))]
