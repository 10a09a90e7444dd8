"""`./lab list`: what can be run here."""

from __future__ import annotations

from cli.shell.declare import answer, declare, json_option


@declare(section="Set up")
@json_option
def command(as_json: bool) -> None:
    """Show scenarios, allocators (kind, locking, complexity, licence, origin) and boards."""
    from cli.work import inventory

    answer(as_json, inventory.inventory, inventory.as_text)
