"""What the bench is named by: channels and its first board. It imports nothing."""

CHANNELS = ("CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR", "SYNC")
"""In the order of their numbers (docs/reference/pins.md)."""
MARKED_CHANNELS = ("CRIT", "OP")
"""Driven by the firmware's markers, each with a read of DWT: wire and DWT see the same section."""

FIRST_BOARD = "nucleo-f401re"
"""The folder of the board that is used where nobody says otherwise."""
