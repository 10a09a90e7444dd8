"""`./lab heap`: choosing an allocator, and asking what it does."""

from __future__ import annotations

from cli.shell.declare import group

SECTIONS = ("What there is", "What it costs", "Your own program and allocator", "Published figures")

command = group(
    __name__,
    section="Groups of commands",
    help="Choose an allocator: what it takes, loses and promises, at its worst.",
)
