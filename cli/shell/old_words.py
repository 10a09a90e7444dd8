"""Commands that had another name: what an old word answers with."""

from __future__ import annotations

from collections.abc import Mapping

NEW_WORDS: Mapping[str, str] = {
    **{
        word: f"heap {word}"
        for word in (
            *("footprint", "fragmentation", "worst", "adversary", "contract", "record", "reproduce"),
        )
    },
    **{
        word: f"dev {word}"
        for word in (
            *("bench", "perturbation", "faults", "soak", "mutants", "differential", "site", "build"),
            "clean",
        )
    },
    "inventory": "list",
}
