"""How long answers were waited for (docs/reference/wire.md).

A wait runs from the first stimulus that is not answered yet to the answer. The stimuli that come
meanwhile are merged into it: an interrupt has one pending bit, and a task is notified once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from base.run_folder.edges import NS_PER_S, Samples

LATE_NS = {"ISR": 250, "CISR": 250, "TASK": 20_000}
"""A stimulus that comes so short before the answer's edge may have come too late for it: a handler
clears its interrupt, and a task takes its notification, a little before the pin rises or after.
Then another answer follows.
"""


def late_samples(answer: str, samplerate_hz: int) -> int:
    """LATE_NS of the channel `answer` in samples; 0 of one of the user's own."""
    return LATE_NS.get(answer, 0) * samplerate_hz // NS_PER_S


class Open(NamedTuple):
    """A wait that has no answer yet: where it began, and how many stimuli were merged into it."""

    since: int
    merged: int


@dataclass(frozen=True, eq=False)
class Waits:
    """The waits of one kind of answer, in their order.

    `stimulus`, `answer` and `merged` are int64[n]: the samples where each wait began and ended, and
    how many stimuli were merged into it. `open` is the wait that had no answer when the capture
    ended. `unasked`, int64[m], are the answers that nothing waited for. `late` is the last
    stimulus, where it came late for the last answer and counts as merged: another answer would be
    its.
    """

    stimulus: Samples
    answer: Samples
    merged: Samples
    open: Open | None
    unasked: Samples
    late: int | None

    @property
    def length(self) -> Samples:
        """How many samples each wait lasted that is over, int64[n]."""
        return self.answer - self.stimulus


def waits(stimuli: Samples, answers: Samples, late: int) -> Waits:
    """Which of the `answers` each of the `stimuli` waited for; both are samples in their order.

    An answer comes at a later sample than its stimulus. A stimulus that comes at most `late`
    samples before an answer, and not alone, waits on if another answer follows before another
    stimulus.
    """
    count = len(answers)
    at = np.searchsorted(answers, stimuli, "right")
    waiting = np.bincount(at, minlength=count + 2)
    is_last = np.append(at[1:] != at[:-1], True)[: len(at)]
    padded = np.append(answers, np.iinfo(np.int64).max)
    too_late = is_last & (waiting[at] > 1) & (padded[at] - stimuli <= late)
    waits_on = too_late & (at + 1 < count) & (waiting[at + 1] == 0)
    at = at + waits_on
    waiting = np.bincount(at, minlength=count + 1)
    is_first = np.append(True, at[1:] != at[:-1])[: len(at)]
    begin, number = stimuli[is_first], at[is_first]
    over = number < count
    still = stimuli[at == count]
    last_late = int(stimuli[-1]) if len(stimuli) and too_late[-1] and at[-1] == count - 1 else None
    return Waits(
        stimulus=begin[over],
        answer=answers[number[over]],
        merged=waiting[number[over]] - 1,
        open=Open(int(still[0]), len(still) - 1) if len(still) else None,
        unasked=answers[waiting[:count] == 0],
        late=last_late,
    )
