"""`./lab completion`: what has Tab complete commands, options and names."""

from __future__ import annotations

from base.paths import INSTALLED
from cli.shell import start
from cli.shell.declare import argument, declare
from cli.shell.values import choice


@declare("Set up")
@argument("shell", choice("bash", "zsh", "fish"), "bash, zsh or fish")
def command(shell: str) -> None:
    """Print what has Tab complete commands and names.

    For example: eval "$(./lab completion bash)"

    In fish: ./lab completion fish | source
    """
    print(start.completion(shell, "tailscope" if INSTALLED else "lab"))
