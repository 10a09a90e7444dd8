"""The rules on what comes before what: every answer has a cause, and a swept edge its offset.

They belong to the rules of capture/verdict/inconclusive.py and are made like them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from base.run_folder.edges import Samples
from capture.joining.evidence import Evidence
from capture.joining.sweep import swept_operations
from capture.reading.vectorised import high_within
from capture.reading.waits import late_samples, waits
from firmware.build.clock_trees import ClockTree

# Of each answer, the channel of what caused it. A cause that comes while another still waits is
# answered together with it, so there may be more causes than answers.
_CAUSES = (("ISR", "STIM"), ("TASK", "ISR"), ("CISR", "CTRL"))

# Two edges are each seen up to a sample late, and so is the line that they are held against.
_QUANTISED_SAMPLES = 1.25
# How long before the timer's start an interrupt may have begun that holds up SYNC.
_BEFORE_CYCLES = 200


def answers_without_a_cause(evidence: Evidence) -> Iterator[str]:
    """Between two answers there is a cause of the second, and before the first one of the first."""
    if evidence.wire.end_frame is None:
        return
    for answer, cause in _CAUSES:
        answers = evidence.wire.rises_of(answer)
        causes = evidence.wire.rises_of(cause) if cause == "ISR" else evidence.wire.edges_of(cause)
        wrong = waits(causes, answers, late_samples(answer, evidence.edges.samplerate_hz)).unasked
        if len(wrong):
            yield (
                f"{answer} rises at sample {wrong[0]:,} and {cause} shows nothing that it could answer "
                f"({len(wrong)} of {len(answers)} so); check the clips of {answer} and {cause}."
            )


def swept_edges_off_their_offsets(evidence: Evidence) -> Iterator[str]:
    """A swept edge comes its offset after the timer's start, and so does SYNC after a few cycles.

    An interrupt in between holds up SYNC, never the edge.
    """
    wire, plan = evidence.wire, evidence.plan
    table = swept_operations(plan)
    stimuli = wire.edges_of("STIM")
    sync = wire.windows.start
    if plan.stimulus.mode != "sweep" or len(sync) != plan.operations.height or len(stimuli) != table.height:
        return
    starts = sync[table["seq"].to_numpy()]
    offset = table["offset"].to_numpy() * wire.samples_per_cycle
    apart = stimuli - starts - offset
    off = apart - np.median(apart)
    allowed = _QUANTISED_SAMPLES + _sync_jitter_cycles(evidence.board.clock) * wire.samples_per_cycle
    held_up = (off < 0) & _held_up(evidence, stimuli - offset, starts)
    wrong = np.flatnonzero((np.abs(off) > allowed) & ~held_up)
    if len(wrong):
        worst = wrong[np.argmax(np.abs(off[wrong]))]
        yield (
            f"STIM's edge at sample {stimuli[worst]:,} is {abs(off[worst]):,.1f} samples off its offset from "
            f"operation {table['seq'][int(worst)]} ({len(wrong)} of {len(stimuli)} so): samples were lost, "
            "doubled or changed; run again, slower if it recurs."
        )


def _sync_jitter_cycles(clock: ClockTree) -> int:
    """From the start of the timer to SYNC's edge the same instructions run for each operation. What
    they take differs by a flash line that the cache still holds or not, and by where the timer's
    bus is in its cycle.
    """
    return clock.wait_states + clock.apb1_divider - 1


def _held_up(evidence: Evidence, since: npt.NDArray[np.float64], until: Samples) -> npt.NDArray[np.bool_]:
    """Whether an interrupt may have run between the timer's start and SYNC's edge, bool[n]."""
    wire = evidence.wire
    first = np.floor(since - _BEFORE_CYCLES * wire.samples_per_cycle).astype(np.int64)
    first = np.minimum(first, until)
    held: npt.NDArray[np.bool_] = high_within(wire.until_end, "CISR", first, until)
    held = held | high_within(wire.until_end, "ISR", first, until)
    ticks = evidence.joined.ticks
    return np.ones_like(held) if ticks is None else held | ticks.handler_may_run(first, until)


RULES = (answers_without_a_cause, swept_edges_off_their_offsets)
