"""`./lab heap worst`: each allocator's own worst operations, on every allocator."""

from __future__ import annotations

from cli.shell import shared
from cli.shell.declare import answer, declare, json_option, option


@declare(section="What it costs")
@shared.allocator
@option(
    "--host",
    is_flag=True,
    help="on this machine, in a heap of 8 MiB: instructions, and how they grow with free blocks",
)
@json_option
def command(allocator: list[str], host: bool, as_json: bool) -> None:
    """Build each allocator's own worst allocation and free, and run them on every allocator."""
    from cli.work import worst
    from studies.worst import text

    found = worst.run(allocator, host)
    answer(as_json, found.as_json, lambda: text.as_text(found))
