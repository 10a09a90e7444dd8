"""What is too short to be a pulse of the firmware: beside a plain twin, and the firmware itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.records import parse
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.reading.glitches import (
    SHORTEST_CYCLES,
    find_glitches,
    longest_samples,
    without_glitches,
)
from capture.tests.synthetic import CORE_HZ
from firmware.build import image as firmware
from scenarios import catalogue as scenarios
from tests.tables import table

FX2_HZ = 24_000_000


def edges_of(levels: dict[str, str], samplerate_hz: int = FX2_HZ) -> EdgeList:
    """A capture of these levels, a character a sample; channels that are not given are low."""
    total = max(map(len, levels.values()))
    words = np.zeros(total, dtype=np.uint8)
    for channel, drawn in levels.items():
        words |= np.array([level == "#" for level in drawn], dtype=np.uint8) << CHANNELS.index(channel)
    rows = np.flatnonzero(np.append(True, words[1:] != words[:-1]))
    return EdgeList(rows, words[rows], samplerate_hz, total)


def drawn(edges: EdgeList, channel: str) -> str:
    word = edges.word[np.searchsorted(edges.sample, np.arange(edges.total_samples), "right") - 1]
    return "".join("#" if level else "." for level in word >> CHANNELS.index(channel) & 1)


@table
def test_what_stands_alone_is_left_out(seen: str, left: str) -> None:
    other = "..####....####"
    edges = without_glitches(edges_of({"CRIT": seen, "SYNC": other}), 2)
    assert drawn(edges, "CRIT") == left
    assert drawn(edges, "SYNC") == other


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
    edges = without_glitches(edges_of(dict(zip(names, levels, strict=True))), longest)
    assert [drawn(edges, name) for name in names] == [plainly(level, longest) for level in levels]


@table
def test_half_of_eighteen_cycles_in_samples(samplerate_hz: int, samples: int) -> None:
    assert longest_samples(18, samplerate_hz, CORE_HZ) == samples


def test_no_firmware_has_a_shorter_pulse(tmp_path: Path) -> None:
    """Each channel, high or low, by the virtual board's own edges: one a cycle. The sections that
    calibrate have the same code whatever the allocator.
    """
    plan = scenarios.load("mem_frag", {"depth": 2}).compile()
    _, seen = Direct(RunRequest(plan, firmware.build("tlsf"), board="virtual", runs=tmp_path)).taken()
    glitches = find_glitches(seen.edges, parse(seen.serial_bytes), CORE_HZ)
    assert glitches is not None and glitches.shortest_cycles >= SHORTEST_CYCLES and not glitches.count
    for channel in CHANNELS:
        assert np.diff(seen.edges.transitions(channel).sample).min() > glitches.shortest_cycles
