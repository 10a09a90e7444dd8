# spans: firmware/bench/edge_walk.c, firmware/bench/stimulus.c, simulator
"""Answers slower than the stimulus: what the firmware says of them, and the edges' own cycles."""

from __future__ import annotations

import pytest

from base.run_folder.records import InterruptsRecord, StatRecord
from firmware.build import image as firmware
from firmware.tests.images import ALLOCATE, FREE, entry, image
from firmware.tests.test_on_virtual_nucleo import CALIBRATION, Run, runner

PERIODIC, SWEEP, RANDOM, BURST = 1, 2, 3, 4
DEPTH = 200

# Two random stimuli are half a period to one and a half apart: a longer section meets two.
DEPTH_OF_RANDOM = 300


def slow_requests(depth: int, **fields: int) -> list[bytes]:
    """Each request walks past all free blocks of its class, none of which can serve it.

    `fields` are those of its entry.
    """
    return [
        *(entry(ALLOCATE, slot, size) for n in range(depth) for slot, size in ((2 * n, 72), (2 * n + 1, 8))),
        *(entry(FREE, 2 * n, 0) for n in range(depth)),
        *(
            request
            for _ in range(25)
            for request in (entry(ALLOCATE, 2 * depth, 120, **fields), entry(FREE, 2 * depth, 0))
        ),
    ]


MODES = {
    "periodic": {"mode": PERIODIC, "stimulus_period": 2003},
    "random": {"mode": RANDOM, "stimulus_period": 4001, "parameter": 7},
    "burst": {"mode": BURST, "stimulus_period": 5003, "parameter": 700},
}


SLOW = {"basepri": {"isr", "task"}, "scheduler": {"task"}, "primask": {"isr", "task", "control"}}


@pytest.mark.parametrize(
    ("mode", "locking"),
    [
        pytest.param("periodic", "primask", marks=pytest.mark.long),
        ("random", "basepri"),
        ("burst", "scheduler"),
    ],
)
def test_both_witnesses_tell_the_same_wait(mode: str, locking: str) -> None:
    run = runner(firmware.build("seglist", locking=locking).elf, until="4s")
    depth = DEPTH_OF_RANDOM if mode == "random" else DEPTH
    control_period = 1009 if locking == "primask" else 7919
    done = run(
        image(*slow_requests(depth), slots=2 * depth + 1, control_period=control_period, **MODES[mode])
    )
    merging = set()
    for stimulus, answer, name in (
        ("STIM", "ISR", "isr"),
        ("STIM", "TASK", "task"),
        ("CTRL", "CISR", "control"),
    ):
        began = waited(done, stimulus, answer)
        assert told_in_operations(done, name, began) and told_between(done, name, began)
        merging |= {name} if len(began) < len(done.stimuli(stimulus)) else set()
    assert merging >= SLOW[locking]


def waited(done: Run, stimulus: str, answer: str) -> dict[int, int]:
    """Of each answer, how long it was waited for: one pending bit, set by every edge."""
    events = [(cycle, 1) for cycle, _ in done.stimuli(stimulus)]
    events += [(rise, 0) for rise, _ in done.within(answer)]
    merges: dict[int, int] = {}
    pending: list[int] = []
    last: int | None = None
    for at, is_edge in sorted(events):
        if is_edge:
            pending.append(at)
            continue
        if not pending:  # what came while the handler or the task set out
            assert last is not None
            pending = [last]
        merges[at] = at - pending[0]
        last, pending = pending[-1], []
    assert not pending
    return merges


def told_in_operations(done: Run, name: str, began: dict[int, int]) -> bool:
    interrupts_records = {record.seq: record for record in done.log.all(InterruptsRecord)}
    for seq, (begin, end) in enumerate(done.within("OP")[CALIBRATION:]):
        inside = [wait for rise, wait in began.items() if begin < rise < end]
        number = ticks = 0
        if record := interrupts_records.get(seq):
            number = getattr(record, "task_wakes" if name == "task" else f"{name}_entries")
            ticks = getattr(record, f"{name}_ticks")
        assert number == len(inside)
        # A control interrupt may come between the pin of ISR and the read.
        assert 0 <= ticks - sum(inside) <= 4 * len(inside) or name == "isr", (seq, ticks, inside)
        assert abs(ticks - sum(inside)) <= 200 * len(inside), (seq, ticks, inside)
    return True


def told_between(done: Run, name: str, began: dict[int, int]) -> bool:
    windows = done.within("OP")[CALIBRATION:]
    rest = [wait for at, wait in began.items() if not any(begin < at < end for begin, end in windows)]
    between = done.only(StatRecord).between(name)
    assert between is not None
    return bool(abs(between.most_ticks - max(rest)) <= 200 and abs(between.least_ticks - min(rest)) <= 4)
