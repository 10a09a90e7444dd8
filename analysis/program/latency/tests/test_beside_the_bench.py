"""The latency of copies beside that on the wire: the bench's own sweep of its own firmware."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from analysis.program.clock import NO_CLOCK
from analysis.program.latency import answers
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import latency
from simulator import run as simulator
from simulator.interrupts import exception_of
from simulator.latency import Question
from simulator.program import UserProgram
from simulator.run import image_argument

Array = npt.NDArray[np.int64]
SMALL = {"depth": 16, "depths": 1}


def _edges(run: simulator.Run, channel: str, level: bool | None = None) -> Array:
    rows = run.edges.filter(channel=channel)
    rows = rows if level is None else rows.filter(level=level)
    return rows["cycle"].to_numpy()


def _after(edges: Array, cycles: Array) -> Array:
    return edges[np.searchsorted(edges, cycles)]


@pytest.mark.long
def test_the_curve_of_an_empty_section_is_that_of_the_wire(tmp_path: Path) -> None:
    """Operation by operation, the bench moves its timer's stimulus through empty sections. Here one
    of them, which the stimulus missed, is asked at each of its cycles.
    """
    elf = firmware.build("seglist").elf
    image = catalogue.load("latency_sweep", SMALL).compile().image
    run = simulator.run(elf, image=image, until="1100ms", edges=True)
    begin, end = _edges(run, "OP", level=True), _edges(run, "OP", level=False)
    rise, fall = _edges(run, "CRIT", level=True), _edges(run, "CRIT", level=False)
    stimulus = _edges(run, "STIM")
    stimulus = stimulus[(stimulus > begin[0]) & (stimulus < end[-1])]
    operation = np.searchsorted(begin, stimulus, side="right") - 1
    within = stimulus < end[operation]
    stimulus, operation = stimulus[within], operation[within]
    opened = _after(rise, begin[operation])
    masked = _after(fall, opened) - opened
    width = end[operation] - begin[operation]
    empty = masked <= masked.min() + 8
    # Those of the sweep: calibration has a few more empty sections, with other code around them.
    usual = Counter(width[empty].tolist()).most_common(1)[0][0]
    empty &= abs(width - usual) <= 8
    stimulus, operation = stimulus[empty], operation[empty]
    wire = _after(_edges(run, "ISR", level=True), stimulus) - stimulus
    offset = stimulus - begin[operation]
    assert len(offset) > 150

    missed = int(offset.argmax())
    first = int(begin[operation[missed]])
    path = tmp_path / "operations.bin"
    path.write_bytes(image)
    result = latency.ask(
        UserProgram(elf, ("--image", image_argument(path, elf))),
        Question(exception_of("TIM2"), start=first, until=int(stimulus[missed]), every=1),
    )
    curve, _ = answers.latencies(answers.answered(result.rows), result.every, NO_CLOCK)
    inside = offset < len(curve)
    differences = Counter((wire[inside] - curve[offset[inside]]).tolist())
    ((from_entry_to_pin, equal),) = differences.most_common(1)
    # The others were met by the control interrupt, or found the flash's caches otherwise, which is
    # worth a line's wait states and the cycle in which it is asked for.
    assert equal > inside.sum() / 2
    assert max(abs(difference - from_entry_to_pin) for difference in differences) <= 4
    assert curve.max() + from_entry_to_pin == wire.max()
