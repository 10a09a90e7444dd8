"""What the operations of kind K are called."""

from __future__ import annotations

from scenarios.operations import CALLS


def call_name(number: int) -> str:
    """The kernel's call of an operation whose `size` is `number`."""
    return CALLS[number] if number < len(CALLS) else f"call {number}"
