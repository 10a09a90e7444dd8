"""A pulse that is too short, planted on each channel of a run on the virtual board."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from base.run_folder import folder as names
from base.run_folder.edges import CHANNELS, EdgeList, read_parquet
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.conduct import redecode
from capture.conduct import run as conduct
from firmware.build import image as firmware
from scenarios import catalogue
from tests.run_folders import seal

RATE_HZ = 24_000_000
NAMED = "are among the causes: 1 on {}. Check clips and ground, or leave them out by --ignore-glitches."


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = catalogue.load("mem_frag", {"depth": 8}).compile()
    runs = tmp_path_factory.mktemp("runs")
    request = RunRequest(plan, firmware.build("tlsf"), board="virtual", samplerate_hz=RATE_HZ, runs=runs)
    return conduct(Direct(request)).folder


def with_pulse(edges: EdgeList, channel: str, samples: int) -> EdgeList:
    """The capture with a pulse of so many samples in the middle of the run, far from any edge of
    its channel; it is low where the channel is high.
    """
    at = edges.transitions(channel).sample
    gaps = np.diff(at)
    wide = np.flatnonzero(gaps > 40)
    middle = wide[len(wide) // 2]
    begin = int(at[middle] + gaps[middle] // 2)
    turned = np.uint8(1 << CHANNELS.index(channel))
    inside = np.arange(begin, begin + samples)
    sample = np.unique(np.concatenate((edges.sample, inside, [begin + samples])))
    word = edges.word[np.searchsorted(edges.sample, sample, "right") - 1]
    word = np.where((sample >= begin) & (sample < begin + samples), word ^ turned, word)
    rows = np.append(True, word[1:] != word[:-1])
    return EdgeList(sample[rows], word[rows], RATE_HZ, edges.total_samples)


def planted(whole: Path, folder: Path, channel: str, samples: int = 1) -> Path:
    """The run with such a pulse, judged again."""
    shutil.copytree(whole, folder)
    with_pulse(read_parquet(whole / names.EDGES), channel, samples).write_parquet(folder / names.EDGES)
    (folder / names.SESSION).unlink(missing_ok=True)
    seal(folder)
    redecode(folder)
    return folder


def manifest(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / names.MANIFEST).read_text())
    return document


@pytest.mark.parametrize(
    "channel",
    [
        name if name in ("CRIT", "ISR", "SYNC") else pytest.param(name, marks=pytest.mark.long)
        for name in CHANNELS
    ],
)
def test_one_sample_fails_a_run_and_can_be_left_out(whole: Path, tmp_path: Path, channel: str) -> None:
    folder = planted(whole, tmp_path / whole.name, channel)
    before = manifest(folder)
    assert before["verdict"] != "complete" and "glitches" not in before
    assert len(before["reasons"]) > 1 and before["reasons"][-1].endswith(NAMED.format(channel))

    assert redecode(folder, ignore_glitches=True).verdict == "complete"
    document, right = manifest(folder), manifest(whole)
    assert document["glitches"] == {
        "shortest_pulse_cycles": 18,
        "longest_samples": 2,
        "count": {channel: 1},
    }
    (warned,) = [line for line in document["warnings"] if line not in right["warnings"]]
    assert warned.startswith(f"Glitches of at most 2 samples were left out, as asked: 1 on {channel}.")
    for content in (document, right):
        content["files"].pop(names.EDGES)
    told_of_them = {"glitches", "warnings"}
    assert {key: value for key, value in document.items() if key not in told_of_them} == {
        key: value for key, value in right.items() if key not in told_of_them
    }


def test_another_fault_is_not_forgiven(whole: Path, tmp_path: Path) -> None:
    folder = planted(whole, tmp_path / whole.name, "OP")
    log = folder / names.SERIAL_LOG
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(line for line in lines if not line.startswith(b"@OP,5,")))
    seal(folder)
    before = redecode(folder)
    assert before.verdict == "truncated" and before.reasons[-1].endswith(NAMED.format("OP"))
    after = redecode(folder, ignore_glitches=True)
    assert after.verdict == "truncated" and set(after.reasons) < set(before.reasons)
