"""Changes, written by hand as the simulator writes them."""

from __future__ import annotations

from simulator.outputs import Change


def changes(text: str, pc: int = 0x0800_0000) -> list[Change]:
    """Rows of `cycle what value`, of exceptions with the cycle at which it began."""
    rows = [row.split() for row in text.split(",") if row.strip()]
    return [
        Change(int(cycle), what, int(value, 0), pc, int(began[0]) if began else None)
        for cycle, what, value, *began in rows
    ]
