"""Cycles and samples of a replay, the edges of a window, and firmware that is another now."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from analysis.errors import ExplainError
from analysis.explain.replay import Clock, Worst, around, find, window
from analysis.explain.tests.made import maximum
from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.manifest import Maximum
from base.run_folder.named_quantities import ALLOCATE, INTERRUPT
from tests.sentences import Sentences
from tests.tables import beside, table

# 84 MHz at 24 MS/s: 3.5 cycles to a sample; cycle 1,000 begins at 10 us.
CLOCK = Clock(1_000, Fraction(1, 100_000), Fraction(84_000_000), 24_000_000)


@table
def test_a_sample_has_the_cycles_that_begin_in_it(cycle: int, sample: int, first: int) -> None:
    assert CLOCK.sample(cycle) == sample
    assert CLOCK.first_cycle(sample) == first


def test_a_window_has_the_level_at_its_begin_and_each_change_before_its_end() -> None:
    edges = EdgeList(np.array([0, 10, 20, 30]), np.array([0, 1, 3, 2], dtype=np.uint8), 1_000_000, 40)
    assert window(edges, 5, 20) == [(5, 0), (10, 1)]
    assert window(edges, 10, 31) == [(10, 1), (20, 3), (30, 2)]
    assert window(edges, 35, 40) == [(35, 2)]


TOGGLES: dict[str, tuple[int, ...]] = beside(__file__)["toggles"]
OPERATIONS = pl.DataFrame(
    {
        "seq": [0, 1, 2, 3],
        "kind": ["F", "A", "O", "F"],
        "size": [8, 1_000, 16, 24],
        "label": [None, "depth 1", None, None],
        "start_sample": [2, 18, 90, None],
        "wire_operation_samples": [10, 32, 50, None],
    }
)


def edges() -> EdgeList:
    at = sorted({sample for samples in TOGGLES.values() for sample in samples})
    words = [
        sum(
            (sum(toggle <= sample for toggle in TOGGLES.get(name, ())) & 1) << bit
            for bit, name in enumerate(CHANNELS)
        )
        for sample in (0, *at)
    ]  # fmt: skip
    return EdgeList(np.array([0, *at]), np.array(words, dtype=np.uint8), 10_000_000, 200)


def worst_of(quantity: str, key: str, value: float = 1200.0, **fields: object) -> Worst:
    return find(quantity, {key: maximum(value, **fields)}, OPERATIONS, edges())


def places(worst: Worst) -> tuple[int, ...]:
    return worst.start, worst.end, worst.moment, worst.heap_at, worst.first, worst.last


def test_a_section_is_the_longest_pulse_of_its_operation() -> None:
    """The stack is read in its middle; 4 us are 40 samples, and none lie before the first."""
    worst = worst_of("allocate", "critical_ns", seq=1)
    assert places(worst) == (30, 42, 36, 30, 0, 82)
    assert (worst.quantity, worst.value_ns, worst.key) == (ALLOCATE, 1200.0, "1")
    # The pulse of operation 2 lies in it, whatever is behind it; the end of the capture is at 200.
    assert places(worst_of("allocate", "critical_ns", seq=2)) == (95, 105, 100, 95, 55, 145)


@table
def test_a_latency_is_from_the_stimulus_to_its_answer(
    quantity: str, fields: dict[str, Any], expected: tuple[int, ...], name: str
) -> None:
    worst = worst_of(quantity, f"{quantity}_latency_ns", sample=100, **fields)
    assert places(worst) == expected
    assert (worst.quantity.name, worst.key) == (quantity, name)


def test_what_cannot_be_found_is_said(sentences: Sentences) -> None:
    maxima: dict[str, Maximum]
    for quantity, maxima in (
        ("free", {}),
        ("walk", {}),
        ("allocate", {"critical_ns": maximum(seq=0)}),
        ("interrupt", {"interrupt_latency_ns": maximum()}),
        ("task", {"task_latency_ns": maximum(sample=170)}),
        # ISR falls there.
        ("interrupt", {"interrupt_latency_ns": maximum(1200.0, sample=100)}),
    ):
        with sentences.raised(ExplainError):
            find(quantity, maxima, OPERATIONS, edges())


@table
def test_what_is_beside_a_sample(
    value: float, sample: int, start_ns: float, operation: int, sentences: Sentences
) -> None:
    seq = {} if operation < 0 else {"seq": operation}
    near = around(worst_of("interrupt", INTERRUPT.key, value, sample=sample, **seq), OPERATIONS, edges())
    assert (near["operation"].seq if near["operation"] else -1) == operation
    assert near["start_ns"] == start_ns
    sentences.hold(near["place"])
