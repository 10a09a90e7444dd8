"""`./lab heap list`: the allocators."""

from __future__ import annotations

from cli.list import allocators, allocators_as_text
from cli.shell.declare import answer, declare, json_option


@declare("What there is")
@json_option
def command(as_json: bool) -> None:
    """Show the allocators: kind, locking, complexity, licence, origin."""
    answer(as_json, allocators, lambda: allocators_as_text(allocators()))
