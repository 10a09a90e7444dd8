"""The verdict of a run: may its numbers be believed? (docs/reference/verdict.md)"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport, Verdict
from capture.joining.evidence import Evidence, with_edges
from capture.verdict import instruments, records, wire

E = TypeVar("E")

MISSING = (
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
    wire.wire_and_dwt_differ_throughout,
    wire.answers_of_operations_differ,
    wire.wire_and_timer_disagree,
    wire.timer_offset_is_no_distance,
    wire.channel_late_outside_the_calibration,
    wire.latencies_between_operations_differ,
    records.heap_broken,
)
"""All came, and may not be believed: the run is inconclusive."""


Judgement = tuple[Verdict, tuple[str, ...]]
"""A verdict, and a sentence for each reason."""


def judge(evidence: Evidence) -> Judgement:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt.

    Where two clips look exchanged, one sentence stands for all that this explains. It is so where
    one exchange, and no other, leaves fewer reasons and adds none; it breaks two rules at least.
    """
    tools, edges = evidence.tools, evidence.edges
    verdict, reasons = by_rules(evidence, tools, edges.total_samples, MISSING, DOUBTFUL)
    explained = []
    for pair in combinations(edges.channels, 2) if len(set(reasons)) > 1 else ():
        other = with_edges(evidence, exchanged(edges, *pair))
        changed, left = by_rules(other, tools, edges.total_samples, MISSING, DOUBTFUL)
        if set(left) < set(reasons):
            explained.append((pair, changed, left))
    if len(explained) != 1:
        return verdict, reasons
    ((pair, verdict, left),) = explained
    return (
        "inconclusive" if verdict == "complete" else verdict,
        (f"{' and '.join(pair)} look exchanged: run ./lab wiring check.", *left),
    )


def exchanged(edges: EdgeList, channel: str, other: str) -> EdgeList:
    """The capture as it were if the clips of these two channels changed places."""
    first, second = edges.channels.index(channel), edges.channels.index(other)
    differ = (edges.word >> first ^ edges.word >> second) & 1
    word = edges.word ^ (differ << first) ^ (differ << second)
    return replace(edges, word=word.astype(edges.word.dtype))


def by_rules(
    evidence: E,
    tools: ToolReport,
    got_samples: int,
    missing_by: Iterable[Callable[[E], Iterable[str]]],
    doubtful_by: Iterable[Callable[[E], Iterable[str]]],
) -> Judgement:
    """As judge(), by other rules: what they say is missing, or in doubt; and by what holds for
    every run: the tools' report, and how many samples came.
    """
    missing = []
    # By Ctrl-C, SIGTERM or SIGHUP. What came until then is kept.
    if tools.interrupted:
        missing.append("The run was interrupted, by Ctrl-C or another signal; run it again to its end.")
    # A tool died, hung or lost its connection.
    missing += tools.losses
    # Only counting shows such a loss. The tools' report may explain it already.
    if got_samples < tools.asked_samples and not tools.losses:
        missing.append(
            f"The analyzer delivered {got_samples} of {tools.asked_samples} samples; run again, slower if it "
            "recurs."
        )
    for rule in missing_by:
        missing += rule(evidence)
    doubtful = [reason for rule in doubtful_by for reason in rule(evidence)]
    # Some of sigrok's losses show in nothing but words on stderr.
    doubtful += tools.oddities
    verdict: Verdict = "truncated" if missing else "inconclusive" if doubtful else "complete"
    return verdict, (*missing, *doubtful)
