"""The verdict of a run: may its numbers be believed? (docs/reference/verdict.md)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Protocol, TypeVar

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport, Verdict
from capture.joining.evidence import Evidence, with_edges
from capture.verdict import instruments, records, wire

E = TypeVar("E")


class Samples(Protocol):
    """A capture, whole or in windows."""

    @property
    def total_samples(self) -> int: ...


class Captured(Protocol):
    """What there is of every run: the capture, and what the tools said."""

    @property
    def tools(self) -> ToolReport: ...

    @property
    def edges(self) -> Samples: ...


def fewer_samples_than_asked(evidence: Captured) -> Iterator[str]:
    """Only counting shows such a loss. Silent where the tools' report explains it already."""
    wanted, got = evidence.tools.asked_samples, evidence.edges.total_samples
    if got < wanted and not evidence.tools.losses:
        yield f"The analyzer delivered {got} of {wanted} samples; run again, slower if it recurs."


def a_tool_failed(evidence: Captured) -> Iterator[str]:
    """A tool died, hung or lost its connection."""
    yield from evidence.tools.losses


def stopped_by_the_user(evidence: Captured) -> Iterator[str]:
    """By Ctrl-C, SIGTERM or SIGHUP. What came until then is kept."""
    if evidence.tools.interrupted:
        yield "The run was interrupted, by Ctrl-C or another signal; run it again to its end."


def tools_said_something_unexpected(evidence: Captured) -> Iterator[str]:
    """Some of sigrok's losses show in nothing but words on stderr."""
    yield from evidence.tools.oddities


MISSING = (
    stopped_by_the_user,
    a_tool_failed,
    fewer_samples_than_asked,
    wire.no_start_frame,
    wire.no_end_frame,
    records.sequence_gap,
    records.no_end_record,
    records.records_missing_at_the_end,
)
"""Something that should have come did not: the run is truncated."""
DOUBTFUL = (
    records.firmware_failed,
    records.counts_of_other_operations,
    records.restarted,
    records.unreadable_lines,
    records.another_image_ran,
    records.another_firmware_ran,
    records.another_plan_ran,
    wire.windows_and_records_differ,
    records.records_differ_from_plan,
    records.records_out_of_order,
    records.records_altered,
    records.account_does_not_follow,
    wire.window_without_one_pulse,
    instruments.not_calibrated,
    instruments.common_pulses_missing,
    instruments.cost_or_tick_records_missing,
    instruments.another_tick,
    instruments.unsteady_clock,
    instruments.counter_and_frames_disagree,
    instruments.clock_no_crystal_has,
    instruments.coarser_than_told,
    instruments.dwt_not_proven,
    instruments.timers_leave_their_line,
    wire.another_number_of_sections,
    wire.wire_and_dwt_disagree,
    wire.nothing_preempted,
    wire.sweep_is_not_whole,
    wire.waits_still_open,
    wire.answers_without_a_cause,
    wire.swept_edges_off_their_offsets,
    wire.handlers_and_pulses_differ,
    wire.preempted_operations_differ,
    wire.wire_and_dwt_differ_throughout,
    wire.answers_of_operations_differ,
    wire.wire_and_timer_disagree,
    wire.timer_offset_is_no_distance,
    wire.channel_late_outside_the_calibration,
    wire.latencies_between_operations_differ,
    records.heap_broken,
    tools_said_something_unexpected,
)
"""All came, and may not be believed: the run is inconclusive."""


def judge(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt.

    Where two clips look exchanged, one sentence stands for all that this explains. It is so where
    one exchange, and no other, leaves fewer reasons and adds none; it breaks two rules at least.
    """
    verdict, reasons = by_rules(evidence, MISSING, DOUBTFUL)
    explained = []
    for pair in combinations(evidence.edges.channels, 2) if len(set(reasons)) > 1 else ():
        changed, left = by_rules(with_edges(evidence, exchanged(evidence.edges, *pair)), MISSING, DOUBTFUL)
        if set(left) < set(reasons):
            explained.append((pair, changed, left))
    if len(explained) != 1:
        return verdict, reasons
    ((pair, verdict, left),) = explained
    sentence = f"{' and '.join(pair)} look exchanged: run ./lab wiring check."
    return "inconclusive" if verdict == "complete" else verdict, (sentence, *left)


def exchanged(edges: EdgeList, channel: str, other: str) -> EdgeList:
    """The capture as it were if the clips of these two channels changed places."""
    first, second = edges.channels.index(channel), edges.channels.index(other)
    differ = (edges.word >> first ^ edges.word >> second) & 1
    word = edges.word ^ (differ << first) ^ (differ << second)
    return replace(edges, word=word.astype(edges.word.dtype))


def by_rules(
    evidence: E,
    missing_by: Iterable[Callable[[E], Iterable[str]]],
    doubtful_by: Iterable[Callable[[E], Iterable[str]]],
) -> tuple[Verdict, tuple[str, ...]]:
    """As judge(), by other rules: what they say is missing, or in doubt."""
    missing = [reason for rule in missing_by for reason in rule(evidence)]
    doubtful = [reason for rule in doubtful_by for reason in rule(evidence)]
    verdict: Verdict = "truncated" if missing else "inconclusive" if doubtful else "complete"
    return verdict, (*missing, *doubtful)
