"""Run folders for tests, made from a list of operations: the list is the truth.

One sample is one cycle (84 MS/s at 84 MHz). Each operation is: SYNC edge, 40 cycles, OP high,
20 cycles, CRIT high for the given cycles, 20 cycles, OP low, then a gap for its record.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from base.run_folder.edges import EdgeList, settled
from base.run_folder.folder import digests
from base.run_folder.quantities import KEYS
from base.run_folder.tables import INTERRUPTS, OPERATIONS

TEMPLATE = Path(__file__).with_suffix(".json")
"""What run.json has of any run."""
RATE_HZ = 84_000_000
CHANNELS = ("CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR", "SYNC")
STIMULUS_PERIOD, CONTROL_PERIOD = 5_003, 7_919
RECORD_GAP = 2_400
ENTRY_CLEAR, ENTRY_HIT, ENTRY_CONTROL = 38, 46, 26
SEGLIST_BASE, SEGLIST_PER_BLOCK, TLSF_FLAT = 350, 12, 450
TICK_PERIOD, TICK_TOUCHES = 84_000, 2_000
BUDGET = {"resolution": 11.9, "clock": 0.1, "skew": 11.9, "total": 23.9, "overhead": 83.3}
EMPTY_CYCLES = 18
_COUNTED = ("probes", "instructions")
_COLUMNS = {
    "probes": "probes",
    "instructions": "instructions",
    "dwt_cycles": "dwt_cycles",
    "critical_ns": "wire_critical_ns",
}
DISAGREEMENT_CYCLES = (0.0, 1.0, 0.0, -1.0)

Samples = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Operation:
    kind: str
    size: int
    probes: int
    cycles: int
    measured: bool = True
    label: str | None = None
    trial: int | None = None
    depth: int | None = None


def mem_frag(allocator: str, depths: int = 256) -> list[Operation]:
    """Set-up, then at each depth a victim's free and three trials of allocation and free."""
    free = Operation("F", 72, 0, 180, measured=False)
    operations = [Operation("A", size, 1, 360, False, "setup") for _ in range(depths) for size in (72, 8)]
    for depth in range(1, depths + 1):
        probes, cycles = search(allocator, depth)
        place = {"label": f"depth {depth}", "depth": depth}
        operations.append(replace(free, **place))  # type: ignore[arg-type]
        for trial in range(3):
            operations.append(Operation("A", 120, probes, cycles + 2 * trial, trial=trial, **place))  # type: ignore[arg-type]
            operations.append(replace(free, size=120, trial=trial, **place))  # type: ignore[arg-type]
    return operations


def search(allocator: str, depth: int) -> tuple[int, int]:
    """Probes and critical cycles of one allocation behind `depth` free blocks that do not fit."""
    if allocator == "seglist":
        return depth + 3, SEGLIST_BASE + SEGLIST_PER_BLOCK * depth
    return 2, TLSF_FLAT


def mem_stress(allocator: str, operations: int = 1_200) -> list[Operation]:
    """Allocations and frees in a fixed irregular order."""
    pattern = np.random.default_rng(7)
    result = []
    for _ in range(operations):
        if pattern.random() < 0.52:
            probes = (
                int(min(8, pattern.geometric(0.5))) if allocator == "seglist" else int(pattern.integers(1, 3))
            )
            cycles = 331 + 25 * probes if allocator == "seglist" else 251 + 99 * probes
            result.append(Operation("A", int(pattern.integers(8, 1024)), probes, cycles))
        else:
            result.append(Operation("F", 64, 0, 190))
    return result


def write_run(
    runs: Path,
    scenario: str,
    allocator: str,
    operations: list[Operation],
    *,
    verdict: str = "complete",
    reasons: tuple[str, ...] = (),
    board: str = "virtual",
    changes: Mapping[str, Any] | None = None,
) -> Path:
    """Write one run folder below `runs`; `changes` replace top-level keys of run.json."""
    folder = runs / f"20250102T030405Z-{scenario}-{allocator}-{board}".replace("/", "_")
    folder.mkdir(parents=True)
    timeline = _Timeline(operations)
    table, interrupts = timeline.operations_table(), timeline.interrupts_table()
    table.write_parquet(folder / "operations.parquet")
    interrupts.write_parquet(folder / "interrupts.parquet")
    timeline.edges().write_parquet(folder / "edges.parquet")
    manifest = _manifest(scenario, allocator, board, table, interrupts, timeline.total)
    manifest |= {"files": digests(folder)}
    manifest |= {"verdict": verdict, "reasons": list(reasons)} | dict(changes or {})
    manifest["asked"] = {**manifest["asked"], "allocator": manifest["allocator"]}
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


class _Timeline:
    """Where every edge lies."""

    def __init__(self, operations: list[Operation]) -> None:
        self._operations = operations
        cycles = np.array([operation.cycles for operation in operations], dtype=np.int64)
        window = 40 + 20 + cycles + 20 + RECORD_GAP
        self.sync = 10_000 + np.concatenate(([0], np.cumsum(window)[:-1]))
        self.op_start = self.sync + 40
        self.crit_start = self.op_start + 20
        self.crit_end = self.crit_start + cycles
        self.op_end = self.crit_end + 20
        self.total = int(self.op_end[-1]) + 20_000
        self.stimuli = np.arange(9_000, self.total - 10_000, STIMULUS_PERIOD)
        self.controls = np.arange(9_500, self.total - 10_000, CONTROL_PERIOD)

    def operations_table(self) -> pl.DataFrame:
        operations, rows = self._operations, len(self._operations)
        cycles = self.crit_end - self.crit_start
        disagreement = np.resize(np.array(DISAGREEMENT_CYCLES), rows)
        delta = np.array([{"A": 1, "F": -1}.get(operation.kind, 0) for operation in operations])
        live = np.maximum(np.cumsum(delta), 0)
        columns = {
            "seq": range(rows),
            "kind": [operation.kind for operation in operations],
            "size": [operation.size for operation in operations],
            "measured": [operation.measured for operation in operations],
            "probes": [operation.probes for operation in operations],
            "instructions": cycles // 2,
            "dwt_cycles": cycles - disagreement.astype(np.int64),
            "dwt_operation_cycles": self.op_end - self.op_start,
            "wire_critical_ns": cycles * 1e9 / RATE_HZ,
            "wire_section_ns": cycles * 1e9 / RATE_HZ,
            "wire_operation_ns": (self.op_end - self.op_start) * 1e9 / RATE_HZ,
            "wire_critical_samples": cycles,
            "wire_operation_samples": self.op_end - self.op_start,
            "start_sample": self.op_start,
            "disagreement_cycles": disagreement,
            "interrupted": [False] * rows,
            "control_hits": [0] * rows,
            "isr_hits": [0] * rows,
            **{name: [0] * rows for name in OPERATIONS if name.startswith("timer_")},
            "live": live,
            "bytes_in_use": live * 80,
            "label": [operation.label for operation in operations],
            "trial": [operation.trial for operation in operations],
            "depth": [operation.depth for operation in operations],
            "trials_minimum_cycles": [None] * rows,
        }
        return pl.DataFrame(columns, schema=OPERATIONS, strict=False)

    def hits(self, stimuli: Samples) -> tuple[Samples, npt.NDArray[np.bool_]]:
        """Of each stimulus: the operation it fell into or -1, and whether CRIT was high."""
        inside = np.searchsorted(self.op_start, stimuli, side="right").astype(np.int64) - 1
        in_op = (inside >= 0) & (stimuli < self.op_end[inside])
        critical = in_op & (stimuli >= self.crit_start[inside]) & (stimuli < self.crit_end[inside])
        return np.where(in_op, inside, np.int64(-1)), critical

    def answers(self) -> Samples:
        """The sample at which ISR rises for each STIM edge."""
        seq, critical = self.hits(self.stimuli)
        return np.where(critical, self.crit_end[seq] + ENTRY_HIT, self.stimuli + ENTRY_CLEAR)

    def interrupts_table(self) -> pl.DataFrame:
        stimuli = interrupt_rows(False, self.stimuli, self.answers(), *self.hits(self.stimuli))
        controls = interrupt_rows(
            True, self.controls, self.controls + ENTRY_CONTROL, *self.hits(self.controls)
        )
        return pl.concat([stimuli, controls]).sort("sample")

    def edges(self) -> EdgeList:
        answer = self.answers()
        control_answer = self.controls + ENTRY_CONTROL
        toggles = [
            (0, self.crit_start), (0, self.crit_end), (1, self.op_start), (1, self.op_end),
            (2, self.stimuli), (3, answer), (3, answer + 60), (4, answer + 300), (4, answer + 420),
            (5, self.controls), (6, control_answer), (6, control_answer + 30), (7, self.sync),
        ]  # fmt: skip
        sample = np.concatenate([samples for _, samples in toggles])
        bit = np.concatenate([np.full(len(samples), 1 << channel) for channel, samples in toggles])
        order = np.argsort(sample, kind="stable")
        word = np.bitwise_xor.accumulate(bit[order])
        rows = settled(np.append(0, sample[order]), np.append(0, word).astype(np.uint8))
        return EdgeList(*rows, RATE_HZ, self.total, CHANNELS)


def interrupt_rows(
    control: bool, stimulus: Samples, answer: Samples, seq: Samples, critical: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    """Rows of interrupts.parquet. `stimulus`, `answer`: samples; `seq`: operation or -1."""
    latency_ns = (answer - stimulus) * 1e9 / RATE_HZ
    columns = {
        "control": [control] * len(stimulus),
        "sample": stimulus,
        "time_ns": stimulus * 1e9 / RATE_HZ,
        "isr_latency_ns": latency_ns,
        "task_latency_ns": [None] * len(stimulus) if control else latency_ns + 300e9 / RATE_HZ,
        "operation_seq": [None if value < 0 else int(value) for value in seq],
        "hit": np.where(critical, "critical", np.where(seq >= 0, "operation", "none")),
        "critical_sure": [True] * len(stimulus),
        "operation_sure": [True] * len(stimulus),
        "isr_merged": [0] * len(stimulus),
        "isr_open": [False] * len(stimulus),
        "task_merged": [0] * len(stimulus),
        "task_open": [False] * len(stimulus),
        "tick_phase_cycles": stimulus % TICK_PERIOD,
        "tick": (stimulus % TICK_PERIOD < TICK_TOUCHES),
        "task_tick": [None] * len(stimulus) if control else stimulus % TICK_PERIOD < 2 * TICK_TOUCHES,
    }
    return pl.DataFrame(columns, schema=INTERRUPTS, strict=False)


def nearest_rank(values: list[float], share_percent: int) -> float:
    """As defined: the smallest value with at least that share of all at or below it."""
    ordered = sorted(values)
    return next(ordered[i - 1] for i in count(1) if i * 100 >= share_percent * len(ordered))


def summary(values: list[float]) -> dict[str, Any]:
    if not values:
        names = ("min", "mean", "stdev", "median", "p90", "p99", "p99_9", "p99_99", "max")
        return {"n": 0, **dict.fromkeys(names)}
    p99 = nearest_rank(values, 99) if len(values) >= 100 else None
    result = {"n": len(values), "median": nearest_rank(values, 50), "p99": p99, "max": max(values)}
    deviation = statistics.stdev(values) if len(values) > 1 else None
    result |= {"min": min(values), "mean": statistics.fmean(values), "stdev": deviation}
    return result | {"p90": nearest_rank(values, 90), "p99_9": None, "p99_99": None}


def _budget(times: int) -> dict[str, Any]:
    terms = {term: {"ns": times * ns, "cycles": times * ns * RATE_HZ / 1e9} for term, ns in BUDGET.items()}
    return {**terms, **{key: {"ns": None, "cycles": None} for key in ("unseen", "rank")}, "undecided": None}


def _baselines() -> dict[str, Any]:
    """An empty section, and an interrupt that nothing holds up."""
    sample_ns = 1e9 / RATE_HZ
    values = {
        **dict.fromkeys((key for key in KEYS if key.endswith("dwt_cycles")), EMPTY_CYCLES),
        **dict.fromkeys(
            (key for key in KEYS if key.endswith(("critical_ns", "section_ns"))), EMPTY_CYCLES * sample_ns
        ),
        **dict.fromkeys((key for key in KEYS if key.startswith("int")), ENTRY_CLEAR * sample_ns),
        "control_latency_ns": ENTRY_CONTROL * sample_ns,
        "task_latency_ns": (ENTRY_CLEAR + 300) * sample_ns,
    }
    counted = {key: None for key in KEYS if key.endswith(_COUNTED)}
    return counted | {key: {"value": value, "n": 10, "ends": None} for key, value in values.items()}


def _intervals(scenario: str, summaries: Mapping[str, pl.Series]) -> dict[str, Any]:
    """A ramp has none; elsewhere, for the tests, five to either side of the median."""
    if scenario == "mem_frag":
        return {"confidence": 0.95, "refused": "The scenario is a ramp.", "of": {}}
    medians = {key: nearest_rank(values.to_list(), 50) for key, values in summaries.items() if len(values)}
    of: dict[str, Any] = {
        key: {"median": [median - 5, median + 5], "p99": None, "independence_p": 0.5}
        for key, median in medians.items()
    }
    of["dwt_cycles"]["independence_p"] = 0.001
    return {"confidence": 0.95, "refused": None, "of": of}


def _manifest(
    scenario: str, allocator: str, board: str, table: pl.DataFrame, interrupts: pl.DataFrame, total: int
) -> dict[str, Any]:
    measured = {kind: table.filter("measured", pl.col("kind") == kind) for kind in "AO"}
    allocations = table.filter("measured", pl.col("kind").is_in(["A", "O"]))
    frees = table.filter(pl.col("measured") & (pl.col("kind") == "F"))
    stimuli, controls = interrupts.filter(~pl.col("control")), interrupts.filter("control")
    hit = pl.col("hit") == "critical"
    summaries = {
        "section_ns": table["wire_section_ns"],
        "uninterrupted_section_ns": table["wire_section_ns"],
        "probes": allocations["probes"],
        "instructions": allocations["instructions"],
        "dwt_cycles": allocations["dwt_cycles"],
        "critical_ns": allocations["wire_critical_ns"],
        **{
            f"{prefix}_{key}": measured[kind][column]
            for prefix, kind in (("served", "A"), ("refused", "O"))
            for key, column in _COLUMNS.items()
        },
        "free_instructions": frees["instructions"],
        "free_dwt_cycles": frees["dwt_cycles"],
        "free_critical_ns": frees["wire_critical_ns"],
        "interrupt_latency_ns": stimuli["isr_latency_ns"],
        "interrupt_latency_hit_ns": stimuli.filter(hit)["isr_latency_ns"],
        "interrupt_latency_clear_ns": stimuli.filter(~hit)["isr_latency_ns"],
        "control_latency_ns": controls["isr_latency_ns"],
        "task_latency_ns": stimuli["task_latency_ns"],
    }
    assert set(summaries) == set(KEYS)
    summed_up = {key: summary(values.to_list()) for key, values in summaries.items()}
    document: dict[str, Any] = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    document |= {"scenario": scenario, "ramp": scenario == "mem_frag", "allocator": allocator, "board": board}
    document |= {"total_samples": total, **summed_up, "maxima": dict.fromkeys(KEYS)}
    document["asked"]["allocator"] = allocator
    document["counts"] |= {"operations": len(table), "allocations": len(measured["A"])}
    document["counts"] |= {"frees": len(frees), "out_of_memory": len(measured["O"])}
    document["agreement"]["n"] = document["serial"]["records"] = len(table)
    document["interrupts"] |= {"stimuli": len(stimuli), "answered": len(stimuli)}
    document["interrupts"]["control_stimuli"] = len(controls)
    document["tool_report"]["asked_samples"] = total
    return document | {
        "error_budget": {key: _budget(0 if key.endswith(_COUNTED) else 1) for key in KEYS},
        "intervals": _intervals(scenario, summaries),
        "possible_wait": _possible_wait(table["wire_section_ns"].max()),
        "baselines": _baselines(),
    }


def _possible_wait(section_ns: Any) -> dict[str, Any]:
    entry_ns = ENTRY_HIT * 1e9 / RATE_HZ
    return {"of": "interrupt_latency_ns", "by": "section", "entry_ns": entry_ns, "entry_n": 10, "open": False,
            "ns": section_ns + entry_ns, "budget_ns": 2 * BUDGET["total"]}  # fmt: skip
