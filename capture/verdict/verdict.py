"""The verdict of a run: may its numbers be believed? (docs/reference/verdict.md)"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from base.run_folder.manifest import Verdict
from capture.joining.evidence import Evidence
from capture.verdict import exchanged, glitches, inconclusive, truncated

E = TypeVar("E")


def judge(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and a sentence for each reason: first what is missing, then what is in doubt.

    Where two clips look exchanged, one sentence stands for all that this explains.
    """
    verdict, reasons = _by_all_rules(evidence)
    found = exchanged.pair_of(evidence, reasons, (*truncated.RULES, *inconclusive.RULES))
    if found is None:
        return verdict, (*reasons, *glitches.named(evidence, reasons, _by_all_rules))
    pair, changed_back = found
    verdict, left = _by_all_rules(changed_back)
    return "inconclusive" if verdict == "complete" else verdict, (exchanged.sentence(pair), *left)


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
