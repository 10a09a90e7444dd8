"""Channels, kinds of operations, the first board, and the most that a capture may be. It imports
nothing.
"""

CHANNELS = ("CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR", "SYNC")
"""In the order of their numbers (docs/reference/pins.md)."""
MARKED_CHANNELS = ("CRIT", "OP")
"""Driven by the firmware's markers, each with a read of DWT: wire and DWT see the same section."""

FIRST_BOARD = "nucleo-f401re"
"""The folder of the board that is used where nobody says otherwise."""
VIRTUAL_BOARD = "virtual_nucleo"
"""The tool that a manifest names of a run on the virtual board."""

NS_PER_S = 1_000_000_000
MOST_SAMPLERATE_HZ = 10**15
"""A simulator's finest unit of time is 1 fs."""
MOST_SAMPLES = 1 << 36
"""Of a capture: more than ten minutes at 100 MS/s. A few bytes can state any number, and
PulseView's copy has them all.
"""
MOST_FILE_BYTES = 256 << 20
"""Of a table of a run as it is stored."""
MOST_LOG_BYTES = 16 << 20
"""Of records: five times what a run can say, for what a board said before it."""
OPERATION_KINDS = ("A", "O", "F", "N", "E", "K", "S")
"""What became of an operation: allocated, out of memory, freed, nothing to free, free refused,
called, skipped.
"""
