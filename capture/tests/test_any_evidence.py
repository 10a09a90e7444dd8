"""The judge never fails: whatever happened to edges and records, there
is a verdict and a run.json.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edges import MOST_SAMPLERATE_HZ, MOST_SAMPLES, EdgeList
from base.run_folder.manifest import Manifest, SectionBound, ToolReport
from capture.acquisition.source import Setting
from capture.joining.evidence import decode
from capture.summary.summary import summarise_run
from capture.tests.evidence import ASKED
from capture.tests.synthetic import CORE_HZ, SyntheticRun, record, small_plan, small_plan_under, small_sweep

EXAMPLES = [6, pytest.param(45, marks=pytest.mark.long)]
BOUND = SectionBound(instructions=900, cycles=1200, region_decided=True, why_not=None)
SETTING = Setting("tlsf", "nucleo", "fx2lafw", "ab" * 32, bounds={"allocate": BOUND, "free": BOUND})
NUMBERS = (0, 1, 31, 32, 999, (1 << 24) + 1, (1 << 32) - 1, 1 << 32, 1 << 63, 10**40)

RUNS: dict[str, Callable[[], SyntheticRun]] = {
    "periodic": cache(lambda: SyntheticRun(small_plan(depth=3))),
    "sweep": cache(lambda: SyntheticRun(small_sweep())),
    # Its edges are those of a periodic stimulus: no draw fits.
    "random": cache(lambda: SyntheticRun(small_plan_under("random:5003,7919", 2))),
    "none": cache(lambda: SyntheticRun(small_plan_under("none", 2))),
}


def mutate_lines(lines: list[str], draw: random.Random) -> None:
    """One of the ways in which records come otherwise than
    they were sent; their checksums are right.
    """
    name = draw.choice(sorted({line.split(",")[0] for line in lines}))
    at = draw.choice([i for i, line in enumerate(lines) if line.split(",")[0] == name])
    other = draw.randrange(len(lines))
    match draw.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = lines[at][: draw.randrange(len(lines[at]) + 1)]
        case 4:
            del lines[at:]
        case 5:
            fields = lines[at].split(",")
            fields[draw.randrange(len(fields))] = str(draw.choice(NUMBERS))
            lines[at] = ",".join(fields)
        case _:
            where = draw.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:where] + draw.choice("0123456789AFNOEK") + lines[at][where + 1 :]
    if not lines:
        lines.append("END,0")


def mutate_edges(rows: dict[int, int], total: int, draw: random.Random) -> None:
    """A row is dropped, moved, put in or changed, or a stretch is lost: by sample and word."""
    samples = sorted(rows)
    at = draw.choice(samples)
    match draw.randrange(6):
        case 0:
            del rows[at]
        case 1:
            word = rows.pop(at)
            rows[min(max(at + draw.randrange(-5000, 5000), 0), total - 1)] = word
        case 2:
            rows[draw.randrange(total)] = draw.randrange(256)
        case 3:
            rows[at] ^= 1 << draw.randrange(8)
        case 4:
            channel = 1 << draw.randrange(8)
            for sample in samples:
                rows[sample] &= ~channel
        case _:
            for sample in samples[draw.randrange(len(samples)) :][: draw.randrange(1, 400)]:
                del rows[sample]
    rows.setdefault(0, 0)


def edge_list(rows: dict[int, int], total: int, samplerate_hz: int) -> EdgeList:
    """The rows that differ from the one before, as any capture has them."""
    samples = sorted(rows)
    words = [rows[sample] for sample in samples]
    changes = [i for i in range(len(samples)) if i == 0 or words[i] != words[i - 1]]
    return EdgeList(
        np.array([samples[i] for i in changes], dtype=np.int64),
        np.array([words[i] for i in changes], dtype=np.uint8),
        samplerate_hz,
        total,
    )


def judged(run: SyntheticRun, edges: EdgeList, serial_bytes: bytes) -> Manifest:
    evidence = decode(run.plan, ToolReport(asked_samples=1), edges, serial_bytes, asked=ASKED)
    manifest = summarise_run(evidence, SETTING)
    json.dumps(manifest.as_json(), allow_nan=False)
    return manifest


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("name", RUNS)
def test_whatever_happened_there_is_a_verdict(name: str, examples: int) -> None:
    run = RUNS[name]()
    sound = run.edges()

    @settings(max_examples=examples)
    @given(st.randoms(use_true_random=False), st.integers(0, 3), st.integers(0, 3))
    def judges(draw: random.Random, of_records: int, of_edges: int) -> None:
        lines = list(run.lines)
        for _ in range(of_records):
            mutate_lines(lines, draw)
        rows = dict(zip(sound.sample.tolist(), sound.word.tolist(), strict=True))
        for _ in range(of_edges):
            mutate_edges(rows, sound.total_samples, draw)
        edges = edge_list(rows, sound.total_samples, sound.samplerate_hz)
        manifest = judged(run, edges, b"".join(map(record, lines)))
        assert manifest.verdict in ("complete", "inconclusive", "truncated")
        assert (manifest.verdict == "complete") == (not manifest.reasons)

    judges()


@pytest.mark.parametrize("name", RUNS)
@settings(max_examples=2)
@given(
    st.dictionaries(st.integers(0, MOST_SAMPLES - 1), st.integers(0, 255), max_size=200),
    st.sampled_from((1, 1000, 24_000_000, CORE_HZ, MOST_SAMPLERATE_HZ)),
)
def test_any_edges_get_a_verdict(name: str, rows: dict[int, int], samplerate_hz: int) -> None:
    run = RUNS[name]()
    rows.setdefault(0, 0)
    edges = edge_list(rows, MOST_SAMPLES, samplerate_hz)
    assert judged(run, edges, run.uart()).verdict != "complete"
