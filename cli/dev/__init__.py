"""`./lab dev`: work on the bench itself."""

from __future__ import annotations

from cli.shell.declare import group

SECTIONS = ("Build", "Is the bench right?", "Is it fast?")

command = group(
    __name__,
    section="Groups of commands",
    help="Work on the bench itself: its speed, its faults, its site.",
)
