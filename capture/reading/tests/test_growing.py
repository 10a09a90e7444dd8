"""A capture that is read as it grows: its frames, and its last rows. test_counter.py counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from base.run_folder.edge_stream import EdgeFollower, EdgeWriter
from base.run_folder.edges import CHANNELS
from capture.reading.growing import Growing

HZ = 1_000_000  # a sample is 1,000 ns
BIT = {name: 1 << bit for bit, name in enumerate(CHANNELS)}


def followed(path: Path, sample: list[int], word: list[int], cuts: list[int]) -> Growing:
    """What was counted, where the rows came in blocks that end at `cuts`."""
    result, follower = Growing(), EdgeFollower(path)
    with EdgeWriter(path, HZ, CHANNELS, 1 << 30) as writer:
        assert follower.more() is None
        for first, after in zip([0, *cuts], [*cuts, len(sample)], strict=True):
            total = sample[after] if after < len(sample) else sample[-1] + 1
            writer.append(np.array(sample[first:after]), np.array(word[first:after], np.uint8), total)
            new = follower.more()
            if new is not None:
                result.add(new)
        assert follower.more() is None
    return result


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_calibration_and_common_pulses_are_left_out(tmp_path: Path, step: int) -> None:
    """Of CRIT only the pulses of 3 and 5 ms are the program's; those of 90, 40 and 70 are not."""
    edges: list[tuple[int, str]] = []

    def pulse(channel: str, begin: int, width: int) -> None:
        edges.extend([(begin, channel), (begin + width, channel)])

    def train(begin: int, spacing: int) -> None:
        edges.extend((begin + spacing * edge, "SYNC") for edge in range(64))

    def run(begin: int) -> None:
        pulse("CRIT", begin + 100, 90)
        pulse("ISR", begin + 100, 90)
        train(begin + 1000, 10)
        pulse("CRIT", begin + 1700, 40)
        edges.extend([(begin + 2000, "SYNC"), (begin + 2100, "SYNC")])
        pulse("CRIT", begin + 2020, 3)
        edges.append((begin + 2030, "STIM"))
        pulse("ISR", begin + 2032, 1)
        pulse("CRIT", begin + 2120, 5)
        edges.append((begin + 2130, "STIM"))
        pulse("ISR", begin + 2136, 1)
        train(begin + 3000, 15)
        pulse("CRIT", begin + 4100, 70)
        pulse("STIM", begin + 4200, 80)
        pulse("ISR", begin + 4300, 80)

    run(0)
    run(10_000)  # the board was reset: the run is what follows
    word, sample, words = 0, [0], [0]
    for at in sorted({at for at, _ in edges}):
        for channel in (name for its, name in edges if its == at):
            word ^= BIT[channel]
        sample.append(at)
        words.append(word)
    result = followed(tmp_path / "s", sample, words, list(range(step, len(sample), step)))
    widths, waits = result.widths_ns(), result.latencies_ns()["STIM to ISR"]
    assert (widths["CRIT"].n, widths["CRIT"].max) == (2, 5_000)
    assert (widths["ISR"].n, widths["ISR"].max) == (2, 1_000)
    assert (waits.n, waits.max) == (2, 6_000)
