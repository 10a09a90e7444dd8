"""What the bench runs: scenarios in TOML, and the generators that compile them to operations.

`catalogue.load` finds a scenario. `Scenario.compile` turns it into a `Plan`: the image that the
firmware interprets, and a table of the same operations for the host. docs/reference/scenarios.md
says how to add a scenario.
"""
