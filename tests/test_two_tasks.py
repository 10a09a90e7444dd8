"""Two tasks on one heap: the urgent one's wait, against the edges and the other's records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from base.files import results
from base.run_folder.edges import EdgeList, read_parquet
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from firmware.build import image as firmware
from scenarios import catalogue

SAMPLES_PER_S = CYCLES_PER_S = 84_000_000
ROUNDS = 600
STEP_CYCLES = 2400 // ROUNDS
BEYOND_CYCLES = {"basepri": (0, 33), "scheduler": (-110, 420)}
"""An interrupt that is served within the section saves its handler, which takes some 105 cycles."""
MOST_TICK_CYCLES = 200
"""SysTick's handler, with entry and return: some 150 cycles."""
RUNS = [
    *((name, lock) for name in ("seglist", "tlsf", "pool") for lock in ("basepri", "scheduler")),
    ("heap_4", "scheduler"),
]


@dataclass(frozen=True)
class Made:
    document: Mapping[str, Any]
    operations: pl.DataFrame
    interrupts: pl.DataFrame
    edges: EdgeList


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("runs")

    @cache
    def make(allocator: str, locking: str, scenario: str = "two_tasks") -> Made:
        plan = catalogue.load(scenario, {"depth": 4} if scenario == "mem_frag" else {}).compile()
        image = firmware.build(allocator, locking=locking, extras=plan.extras)
        request = RunRequest(plan, image, runs=folder, samplerate_hz=SAMPLES_PER_S)
        run: Path = conduct.run(Direct(request)).folder
        return Made(
            json.loads((run / "run.json").read_text()),
            pl.read_parquet(run / "operations.parquet"),
            pl.read_parquet(run / "interrupts.parquet"),
            read_parquet(run / "edges.parquet"),
        )

    return make


def cycles(ns: float) -> int:
    return round(ns * CYCLES_PER_S / 1e9)


@pytest.mark.parametrize(("allocator", "locking"), RUNS)
def test_it_waits_for_what_is_left_of_the_others_section(made: Any, allocator: str, locking: str) -> None:
    """From the edges alone; a sample is a cycle. A stimulus met a section that had not ended then
    and had begun when the interrupt answered. What the wait is beyond the rest of that section, it
    takes to give back the lock: 33 cycles to unmask. While the scheduler is suspended the interrupt
    is served within the section, and resuming takes about as long as that saves; a tick that came
    meanwhile is then made up for.
    """
    run: Made = made(allocator, locking)
    assert run.document["verdict"] == "complete", run.document["reasons"]
    crit, stim, isr, task = (run.edges.transitions(name) for name in ("CRIT", "STIM", "ISR", "TASK"))
    stimuli = run.interrupts["sample"].to_numpy()  # without the common pulses at both ends
    assert len(stimuli) == 2 * ROUNDS
    assert np.isin(stimuli, stim.sample).all()
    begins, ends = crit.sample[crit.level], crit.sample[~crit.level]
    answers, has_the_heap = (
        rises[np.searchsorted(rises, stimuli)]
        for rises in (transitions.sample[transitions.level] for transitions in (isr, task))
    )
    next_end = np.searchsorted(ends, stimuli, "right")
    met = begins[next_end] < answers
    latencies = has_the_heap - stimuli
    calm = ~run.interrupts["task_tick"].to_numpy()
    undisturbed = np.median(latencies[~met & calm])
    wait = run.document["heap_wait"]
    assert (wait["n"], cycles(wait["max"])) == (met.sum(), latencies[met].max() - undisturbed)
    assert (wait["undisturbed_n"], cycles(wait["undisturbed_ns"])) == ((~met & calm).sum(), undisturbed)
    beyond = (latencies - undisturbed - (ends[next_end] - stimuli))[met & calm]
    least, most = BEYOND_CYCLES[locking]
    assert least <= beyond.min() <= beyond.max() <= most


@dataclass(frozen=True)
class Wait:
    """The longest that no tick came into, in cycles, and the operation that was waited for."""

    cycles: int
    seq: int


def longest_calm_wait(run: Made) -> Wait:
    calm = run.interrupts.filter(~pl.col("task_tick")).sort("task_latency_ns", descending=True)
    longest = calm.row(0, named=True)
    beyond_ns = longest["task_latency_ns"] - run.document["heap_wait"]["undisturbed_ns"]
    return Wait(cycles(beyond_ns), longest["operation_seq"])


@pytest.mark.parametrize("allocator", ["seglist", "tlsf", "pool"])
def test_the_longest_wait_is_the_section_that_the_records_tell(made: Any, allocator: str) -> None:
    """DWT of the operation that was waited for: a stimulus fell within its first few cycles. A tick
    may come on top, once.
    """
    run: Made = made(allocator, "basepri")
    wait = longest_calm_wait(run)
    section = run.operations.filter(pl.col("seq") == wait.seq)["dwt_cycles"].item()
    assert section == run.operations.filter("measured")["dwt_cycles"].max()
    assert section - STEP_CYCLES <= wait.cycles <= section + 80
    heap_wait = run.document["heap_wait"]
    assert wait.cycles <= cycles(heap_wait["max"]) <= wait.cycles + MOST_TICK_CYCLES
    assert cycles(heap_wait["resolution_ns"]) <= 4


@pytest.mark.parametrize("allocator", ["seglist", "tlsf"])
def test_with_the_scheduler_suspended_the_task_waits_and_the_interrupt_does_not(
    made: Any, allocator: str
) -> None:
    waits = {lock: longest_calm_wait(made(allocator, lock)).cycles for lock in BEYOND_CYCLES}
    latencies = {
        lock: cycles(made(allocator, lock).document["interrupt_latency_ns"]["max"]) for lock in BEYOND_CYCLES
    }
    assert waits["scheduler"] > waits["basepri"]
    assert latencies["scheduler"] < waits["scheduler"] / 4
    assert latencies["basepri"] > waits["basepri"]


def test_the_result_is_what_the_runs_measure(made: Any) -> None:
    published = results.read("two-tasks")
    for allocator, locking in RUNS:
        shown = made(allocator, locking).document
        figures = (shown["heap_wait"]["max"], shown["interrupt_latency_ns"]["max"])
        row = [allocator, locking, str(shown["heap_wait"]["n"]), *(f"{ns / 1000:.2f}" for ns in figures)]
        assert row in published
