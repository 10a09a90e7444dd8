"""`./lab contract`: holds allocators to the contract, with progress."""

from __future__ import annotations

from contextlib import suppress

from rich.console import Console
from rich.markup import escape

from analysis.contract.contract import Contract, hold
from firmware import outside


def run(allocator: str) -> list[Contract]:
    """The contract of each of these allocators, separated by commas. Raises TailscopeError."""
    with Console(stderr=True, highlight=False).status("") as status:

        def tell(step: str) -> None:
            with suppress(OSError):  # a terminal that hung up ends nothing
                status.update(escape(step))

        return [hold(name, tell) for name in outside.admit(outside.words(allocator))]
