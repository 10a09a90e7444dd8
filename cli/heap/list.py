"""`./lab heap list`: the allocators."""

from __future__ import annotations

from cli.shell.declare import answer, declare, json_option


@declare(section="What there is")
@json_option
def command(as_json: bool) -> None:
    """Show the allocators: kind, locking, complexity, licence, origin."""
    from cli.work import inventory

    answer(as_json, inventory.allocators, lambda: "\n".join(inventory.allocator_lines()))
