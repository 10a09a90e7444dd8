"""Two clips that were exchanged: found by changing them back, and judging the run again.

Such a run breaks a dozen rules at once, and none of their sentences names the cause. So each pair
of channels is exchanged in the capture. The pair whose exchange takes reasons away and adds none is
the one, if there is no other: the run then fits in all that wire, records and plan tell of each
other (docs/reference/verdict.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

import numpy as np

from base.run_folder.edges import EdgeList
from capture.joining.evidence import Evidence, with_edges

FEWEST_REASONS = 2
"""An exchange breaks no fewer rules (capture/verdict/tests/test_exchanged.py). With fewer, none is
looked for, which takes as long as to judge the run some dozen times.
"""

Rule = Callable[[Evidence], Iterable[str]]
Pair = tuple[str, str]


def pair_of(
    evidence: Evidence, reasons: Iterable[str], rules: Iterable[Rule]
) -> tuple[Pair, Evidence] | None:
    """The two channels whose clips look exchanged, and the run with them changed back.

    `reasons` are those of the run as it is, by `rules`. None where no pair explains them, or where
    several do.
    """
    reasons_before = frozenset(reasons)
    if len(reasons_before) < FEWEST_REASONS:
        return None
    pairs = list(_explaining(evidence, reasons_before, tuple(rules)))
    return pairs[0] if len(pairs) == 1 else None


def _explaining(
    evidence: Evidence, reasons_before: frozenset[str], rules: tuple[Rule, ...]
) -> Iterator[tuple[Pair, Evidence]]:
    for pair in combinations(evidence.edges.channels, 2):
        changed = with_edges(evidence, exchanged(evidence.edges, *pair))
        if not _fits_no_better(changed, reasons_before, rules):
            yield pair, changed


def _fits_no_better(changed: Evidence, reasons_before: frozenset[str], rules: tuple[Rule, ...]) -> bool:
    """Whether the run has a reason that it had not before, or all of those that it had."""
    left = set()
    for rule in rules:
        for reason in rule(changed):
            if reason not in reasons_before:
                return True
            left.add(reason)
    return len(left) == len(reasons_before)


def exchanged(edges: EdgeList, channel: str, other: str) -> EdgeList:
    """The capture as it were if the clips of these two channels changed places."""
    first, second = edges.channels.index(channel), edges.channels.index(other)
    differ = (edges.word >> first ^ edges.word >> second) & 1
    word = edges.word ^ (differ << first) ^ (differ << second)
    return EdgeList(
        edges.sample, word.astype(np.uint8), edges.samplerate_hz, edges.total_samples, edges.channels
    )


def sentence(pair: Pair) -> str:
    """The reason that stands for all those that the exchange explains."""
    return f"{' and '.join(pair)} look exchanged: run ./lab wiring check."
