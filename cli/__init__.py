"""The commands, each a file whose name is its word: `cli/scenario.py` is `./lab scenario`.

A folder with a command of its own is a group: `cli/heap/list.py` is `./lab heap list`. `shell/`
has what commands share; it is no command, nor is a file whose name begins with `_`.
"""

SECTIONS = (
    "Run and measure",
    "Read what came out",
    "Compare and judge",
    "Your own firmware, as it is",
    "Groups of commands",
    "Set up",
)
"""The titles in the order of the help; a command names its own."""
