"""`./lab heap contract`: whether an allocator keeps the contract."""

from __future__ import annotations

from cli.shell import under_way
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import ALLOCATORS


@declare("Your own program and allocator")
@option(
    "--allocator",
    ALLOCATORS,
    "one or more, separated by commas: names, or C files of your own",
    required=True,
)
@json_option
def command(allocator: list[str], as_json: bool) -> int:
    """Test an allocator against the contract, and show the shortest operations that break it."""
    from analysis import contract as text
    from analysis.contract import hold
    from firmware.build import outside

    with under_way.shown(every_s=1.0) as tell:
        contracts = [hold(name, tell) for name in outside.admit(allocator)]
    answer(
        as_json,
        lambda: [contract.as_json() for contract in contracts],
        lambda: "\n\n".join(map(text.as_text, contracts)),
    )
    return int(not all(contract.holds for contract in contracts))
