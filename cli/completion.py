"""`./lab completion`: what has Tab complete commands, options and names."""

from __future__ import annotations

from cli.shell import completing
from cli.shell.declare import argument, declare
from cli.shell.values import Choice


@declare(section="Set up")
@argument("shell", type=Choice(*completing.SHELLS), help="bash, zsh or fish")
def command(shell: str) -> None:
    """Print what has Tab complete commands and names.

    For example: eval "$(./lab completion bash)"

    In fish: ./lab completion fish | source
    """
    print(completing.script(shell))
