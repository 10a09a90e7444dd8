"""The timeline of a stored run: what the wire shows of it, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from analysis.program.masks import timeline
from analysis.program.masks.intervals import Clock
from analysis.program.masks.tests.test_intervals import HSI, PLL
from base.run_folder.edges import CHANNELS, EdgeList
from base.timeline import Timeline

CRIT, OP = (1 << CHANNELS.index(name) for name in ("CRIT", "OP"))


def edges() -> EdgeList:
    """At 10 MS/s a sample is 100 ns: OP from 10 to 40, CRIT from 20 to the end."""
    rows = [(0, 0), (10, OP), (20, OP | CRIT), (40, CRIT)]
    sample, word = (np.array(column) for column in zip(*rows, strict=True))
    return EdgeList(sample, word, 10_000_000, 50)


def events(made: Timeline, phase: str) -> list[dict[str, Any]]:
    return [event for event in made.document()["traceEvents"] if event["ph"] == phase]


def test_a_pin_is_a_slice_while_it_is_high() -> None:
    made = Timeline()
    timeline.add_pins(made, edges())
    told = [(event["name"], event["ts"], event["dur"]) for event in events(made, "X")]
    assert told == [("OP", 1.0, 3.0), ("CRIT", 2.0, 3.0)]


def test_an_operation_is_a_slice_and_the_heap_a_counter_behind_it() -> None:
    made = Timeline()
    table = pl.DataFrame(
        {
            "seq": [0, 1],
            "kind": ["A", "F"],
            "size": [64, 64],
            "label": ["", ""],
            "probes": [1, None],
            "start_sample": [10, None],
            "wire_operation_samples": [30, None],
            "bytes_in_use": [80, 0],
        }
    )
    timeline.add_operations(made, table, edges())
    (operation,) = events(made, "X")
    assert (operation["name"], operation["ts"], operation["dur"]) == ("allocate", 1.0, 3.0)
    (level,) = events(made, "C")
    assert (level["ts"], level["args"]) == (4.0, {"bytes": 80})


def test_functions_follow_each_other_at_the_clock_of_their_time() -> None:
    """Two of 16 MHz, then 84 cycles of 84 MHz."""
    made = Timeline()
    steps = pl.DataFrame(
        {
            "cycle": [998, 999, 1000],
            "cycles": [1, 1, 84],
            "place": ["pick", "pick+0x2", "heap_port_lock"],
        }
    )
    timeline.add_functions(made, steps, Clock([HSI, PLL]))
    told = [(event["name"], event["ts"], event["dur"]) for event in events(made, "X")]
    assert told == [("pick", 62.375, 0.125), ("heap_port_lock", 62.5, 1.0)]
