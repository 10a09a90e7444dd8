"""What is too short to be a pulse of the firmware: beside a plain twin, and planted on each channel
of a sound run and left out as asked.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edges import CHANNELS, EdgeList, read_parquet, settled
from base.run_folder.folder import EDGES, MANIFEST, SESSION
from base.run_folder.manifest import ToolReport
from base.run_folder.records import CalibrationRecord, RecordLog
from capture.conduct import redecode
from capture.joining.evidence import Evidence, decode
from capture.reading.wire import without_glitches
from capture.summary.warnings import warnings
from capture.tests.evidence import ASKED
from capture.tests.synthetic import CORE_HZ, SyntheticRun, record, small_plan
from capture.tests.test_redecode import store
from capture.verdict.verdict import judge
from tests.run_folders import seal
from tests.tables import table

FX2_HZ = 24_000_000


def edges_of(levels: dict[str, str], samplerate_hz: int) -> EdgeList:
    """A capture of these levels, a character a sample; channels that are not given are low."""
    words = np.zeros(max(map(len, levels.values())), dtype=np.uint8)
    for channel, drawing in levels.items():
        words |= np.array([level == "#" for level in drawing], dtype=np.uint8) << CHANNELS.index(channel)
    rows = np.flatnonzero(np.append(True, words[1:] != words[:-1]))
    return EdgeList(rows, words[rows], samplerate_hz, words.size)


def drawn(edges: EdgeList, channel: str) -> str:
    word = edges.word[np.searchsorted(edges.sample, np.arange(edges.total_samples), "right") - 1]
    return "".join("#" if level else "." for level in word >> CHANNELS.index(channel) & 1)


def of_sections(cycles: int) -> RecordLog:
    """The records of a run whose empty sections take so long at the least."""
    return RecordLog((CalibrationRecord("CRIT", 0, cycles, 0), CalibrationRecord("OP", 0, cycles + 4, 0)))


@table
def test_what_stands_alone_is_left_out(seen: str, left: str) -> None:
    other = "..####....####"
    edges, _ = without_glitches(edges_of({"CRIT": seen, "SYNC": other}, FX2_HZ), of_sections(18), CORE_HZ)
    assert (drawn(edges, "CRIT"), drawn(edges, "SYNC")) == (left, other)


def plainly(level: str, longest: int) -> str:
    """The same, run by run of a drawing."""
    parts = [match.group() for match in re.finditer(r"#+|\.+", level)]
    short = [0 < at < len(parts) - 1 and len(part) <= longest for at, part in enumerate(parts)]
    for at, part in enumerate(parts):
        if short[at] and not short[at - 1] and not short[at + 1]:
            parts[at] = parts[at - 1][0] * len(part)
    return "".join(parts)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="#.", min_size=40, max_size=40), min_size=3, max_size=3), st.integers(1, 4))
def test_it_is_what_a_plain_reading_gives(levels: list[str], longest: int) -> None:
    names = ("CRIT", "ISR", "SYNC")
    seen = edges_of(dict(zip(names, levels, strict=True)), CORE_HZ)
    edges, _ = without_glitches(seen, of_sections(2 * longest + 1), CORE_HZ)
    assert [drawn(edges, name) for name in names] == [plainly(level, longest) for level in levels]


@table
def test_half_of_eighteen_cycles_in_samples(samplerate_hz: int, samples: int) -> None:
    _, glitches = without_glitches(edges_of({"CRIT": "."}, samplerate_hz), of_sections(18), CORE_HZ)
    assert glitches.longest_samples == samples


def with_glitches(edges: EdgeList, channel: str, count: int) -> EdgeList:
    """`count` pulses of two samples, two apart, where nothing moves for a while."""
    inside = edges.sample[len(edges.sample) // 2 :]
    quiet = int(inside[:-1][np.diff(inside) > 200][0]) + 100
    moved = quiet + np.array([part for n in range(count) for part in (4 * n, 4 * n + 2)])
    rows = np.union1d(edges.sample, moved)
    word = edges.word[np.searchsorted(edges.sample, rows, "right") - 1]
    high = (np.searchsorted(moved, rows, "right") % 2).astype(np.uint8)
    word = word ^ (high << CHANNELS.index(channel)).astype(np.uint8)
    return EdgeList(*settled(rows, word), edges.samplerate_hz, edges.total_samples, edges.channels)


def decoded(run: SyntheticRun, edges: EdgeList, ignore_glitches: bool) -> Evidence:
    report = ToolReport(asked_samples=edges.total_samples)
    return decode(run.plan, report, edges, run.uart(), None, ASKED, ignore_glitches=ignore_glitches)


@pytest.mark.parametrize("channel", CHANNELS)
def test_one_that_stands_alone_is_left_out_and_told(channel: str) -> None:
    run = SyntheticRun(small_plan(depth=2))
    edges = with_glitches(run.edges(), channel, 1)
    assert judge(decoded(run, edges, False))[0] != "complete"
    evidence = decoded(run, edges, True)
    assert evidence.edges == run.edges() and judge(evidence) == ("complete", ())
    (sentence,) = warnings(evidence)
    assert sentence == f"Glitches of at most 2 samples were left out, as asked: 1 on {channel}."


def test_of_several_in_a_row_one_may_be_the_firmwares_and_they_stay() -> None:
    run = SyntheticRun(small_plan(depth=2))
    edges = with_glitches(run.edges(), "CRIT", 2)
    evidence = decoded(run, edges, True)
    assert evidence.edges == edges and judge(evidence)[0] != "complete"


def test_another_fault_is_not_forgiven() -> None:
    run = SyntheticRun(small_plan(depth=2))
    edges = with_glitches(run.edges(), "OP", 1)
    third = next(line for line in run.lines if line.startswith("OP,2,"))
    report, log = ToolReport(asked_samples=edges.total_samples), run.uart().replace(record(third), b"", 1)
    before, after = (
        judge(decode(run.plan, report, edges, log, None, ASKED, ignore_glitches=ignored))
        for ignored in (False, True)
    )
    assert before[0] == after[0] == "truncated" and set(after[1]) < set(before[1])


def test_a_stored_run_is_judged_with_them_and_without(tmp_path: Path) -> None:
    """As before where nobody says. But for them and their warning run.json is a sound run's."""
    folder = store(SyntheticRun(small_plan(depth=2)), tmp_path).folder

    def judged_again(ignore_glitches: bool | None) -> dict[str, Any]:
        redecode(folder, ignore_glitches=ignore_glitches)
        document: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        document["files"].pop(EDGES)
        return document

    sound = judged_again(None)
    with_glitches(read_parquet(folder / EDGES), "CRIT", 1).write_parquet(folder / EDGES)
    (folder / SESSION).unlink()
    seal(folder)
    assert judged_again(None)["verdict"] != "complete"
    left_out = judged_again(True)
    assert left_out["glitches"] == {"longest_samples": 2, "count": {"CRIT": 1}} != sound.get("glitches")
    told_of_them = ("glitches", "warnings")
    assert {key: value for key, value in left_out.items() if key not in told_of_them} == {
        key: value for key, value in sound.items() if key not in told_of_them
    }
    assert judged_again(None) == left_out
    assert judged_again(False)["verdict"] != "complete"
