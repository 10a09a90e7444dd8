"""The simulator's core against Unicorn, instruction by instruction.

Cases are random but seeded, over every encoding of the simulator's decode tables. Both run each
case, and the states after it are compared. `series.run` is the entry.
"""
