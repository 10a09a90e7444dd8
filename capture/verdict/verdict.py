"""The verdict of a run: may its numbers be believed? (docs/reference/verdict.md)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import TypeVar

import numpy as np

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Verdict
from capture.joining.evidence import Evidence, with_edges
from capture.reading.glitches import without_glitches
from capture.verdict import inconclusive, truncated

E = TypeVar("E")
Pair = tuple[str, str]

FEWEST_REASONS = 2
"""An exchange breaks no fewer rules (capture/verdict/tests/test_exchanged.py). With fewer, none is
looked for, which takes as long as to judge the run some dozen times.
"""


def judge(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt.

    Where two clips look exchanged, one sentence stands for all that this explains. It is so where
    one exchange, and no other, leaves fewer reasons and adds none.
    """
    verdict, reasons = _by_all_rules(evidence)
    pairs = _explaining(evidence, frozenset(reasons)) if len(set(reasons)) >= FEWEST_REASONS else []
    if len(pairs) != 1:
        return verdict, (*reasons, *_glitches_named(evidence, reasons))
    ((pair, changed_back),) = pairs
    verdict, left = _by_all_rules(changed_back)
    sentence = f"{' and '.join(pair)} look exchanged: run ./lab wiring check."
    return "inconclusive" if verdict == "complete" else verdict, (sentence, *left)


def _by_all_rules(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    return by_rules(evidence, truncated.RULES, inconclusive.RULES)


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


def _explaining(evidence: Evidence, reasons_before: frozenset[str]) -> list[tuple[Pair, Evidence]]:
    """Each two channels whose exchange explains reasons, and the run with them changed back."""
    pairs = combinations(evidence.edges.channels, 2)
    runs = ((pair, with_edges(evidence, exchanged(evidence.edges, *pair))) for pair in pairs)
    return [(pair, changed) for pair, changed in runs if _fits_better(changed, reasons_before)]


def _fits_better(changed: Evidence, reasons_before: frozenset[str]) -> bool:
    """Whether the run has some of the reasons that it had before, not all, and no other."""
    left = set()
    for rule in (*truncated.RULES, *inconclusive.RULES):
        for reason in rule(changed):
            if reason not in reasons_before:
                return False
            left.add(reason)
    return len(left) < len(reasons_before)


def exchanged(edges: EdgeList, channel: str, other: str) -> EdgeList:
    """The capture as it were if the clips of these two channels changed places."""
    first, second = edges.channels.index(channel), edges.channels.index(other)
    differ = (edges.word >> first ^ edges.word >> second) & 1
    word = edges.word ^ (differ << first) ^ (differ << second)
    return EdgeList(
        edges.sample, word.astype(np.uint8), edges.samplerate_hz, edges.total_samples, edges.channels
    )


def _glitches_named(evidence: Evidence, reasons: tuple[str, ...]) -> Iterator[str]:
    """A further reason, if the run without glitches has fewer of these `reasons` and no other."""
    glitches = evidence.glitches
    if not reasons or evidence.without_glitches or glitches is None or not glitches.count:
        return
    edges = without_glitches(evidence.edges, glitches.longest_samples)
    if set(_by_all_rules(with_edges(evidence, edges))[1]) < set(reasons):
        by_channel = ", ".join(f"{count:,} on {channel}" for channel, count in glitches.count.items())
        yield (
            f"Pulses too short to be the firmware's, of at most {glitches.longest_samples} samples, are "
            f"among the causes: {by_channel}. Check clips and ground, or leave them out by --ignore-glitches."
        )
