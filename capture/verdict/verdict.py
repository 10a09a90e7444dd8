"""The verdict of a run: may its numbers be believed? (docs/SPEC.md, section 6)"""

from __future__ import annotations

from typing import Literal

from capture.joining.evidence import Evidence
from capture.verdict import inconclusive, truncated

Verdict = Literal["complete", "truncated", "inconclusive"]


def judge(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict and a sentence for each of its reasons, what is missing before what is doubtful."""
    missing = [reason for rule in truncated.RULES for reason in rule(evidence)]
    doubtful = [reason for rule in inconclusive.RULES for reason in rule(evidence)]
    verdict: Verdict = "truncated" if missing else "inconclusive" if doubtful else "complete"
    return verdict, (*missing, *doubtful)
