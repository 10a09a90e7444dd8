"""Holds an allocator to the contract, and finds the shortest operations that break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.contract import lists
from analysis.contract.lists import shrink
from base.tell import Tell
from firmware.build import host_contract, host_heap
from firmware.build.catalogue import Allocator
from firmware.build.host_contract import Judged, Suite
from firmware.build.promises import PROMISES, Promise

_WITHIN_S = 10
_HANG_WITHIN_S = 2
_TRIES = 600
_TRIES_OF_HANGS = 40
_LEFT_SOUND = ("misaligned", "small", "status", "lost")
"""Rules after which the heap is still sound: the rest of the contract is tried without them."""
_WORD_BYTES = 4


@dataclass(frozen=True)
class Broken:
    """A rule that was broken: the list of operations, and what the judge said of it."""

    operations: tuple[str, ...]
    judged: Judged

    def as_json(self) -> dict[str, Any]:
        """The rule, with the numbers and the operations that broke it."""
        return {
            "rule": self.judged.rule,
            "numbers": self.judged.numbers,
            "reason": self.judged.reason,
            "operations": list(self.operations),
            "places": list(self.judged.places),
        }


@dataclass(frozen=True)
class Contract:
    """The result. `lists` is the number of judged lists, `broken` has each rule once. The suites
    run unless a list left the heap damaged.
    """

    row: Allocator
    lists: int
    broken: tuple[Broken, ...]
    suites: tuple[Suite, ...]
    defect: Broken | None = None
    """A request larger than any region that it serves, where the catalogue says so."""

    @property
    def holds(self) -> bool:
        """True if nothing was broken."""
        return not self.broken and all(suite.passed for suite in self.suites)

    @property
    def not_stated(self) -> tuple[Promise, ...]:
        """The promises that nobody made, so that nothing tested them."""
        return tuple(promise for promise in PROMISES if promise not in self.row.promises)

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/heap-contract.md describes."""
        source = self.row.source
        return {
            "allocator": self.row.id,
            "outside": source
            and {"file": str(source.file), "format": source.format, "sha256": source.sha256},
            "holds": self.holds,
            "lists": self.lists,
            "broken": [broken.as_json() for broken in self.broken],
            "defect": self.defect and {**self.defect.as_json(), "published": self.row.gives_too_large},
            "suites": [
                {"name": suite.name, "passed": suite.passed, "said": suite.said} for suite in self.suites
            ],
            "not_stated": list(self.not_stated),
        }


def hold(
    allocator: str,
    tell: Tell = lambda _: None,
    *,
    within_s: int = _WITHIN_S,
    hang_within_s: int = _HANG_WITHIN_S,
) -> Contract:
    """Builds the allocator with sanitizers and tries it. Raises TailscopeError.

    A list may take `within_s` seconds. If one takes longer, those that are tried in search of a
    shorter one may take `hang_within_s`.
    """
    row = host_heap.row(allocator)
    tell(f"building the contract tests of {allocator}")
    folder = host_contract.build(allocator)
    count = 0
    broken: list[Broken] = []

    def judged(operations: Sequence[str]) -> bool:
        """Notes each rule that is broken; false once the heap is damaged."""
        while True:
            passing = tuple(each.judged.rule for each in broken)
            result = host_contract.judge(folder, operations, within_s, passing)
            if result.holds or result.rule in passing:
                return result.holds
            tell(f"{allocator}: making a list of {len(operations)} operations shorter")
            limit_s = hang_within_s if result.rule == "never_returns" else within_s
            broken.append(_shortest(folder, operations, result, limit_s, passing))
            if result.rule not in _LEFT_SOUND:
                return False

    sound = True
    for operations in lists.lists(row.promises):
        tell(f"{allocator}: list {count + 1}")
        count += 1
        sound = judged(operations)
        if not sound:
            break
    before = len(broken)
    judged(lists.too_large(row.promises))
    defect = None
    if row.gives_too_large is not None and [each.judged.rule for each in broken[before:]] == ["too_large"]:
        defect = broken.pop()
    if not sound or any(each.judged.rule not in ("misaligned", "too_large") for each in broken):
        return Contract(row, count, tuple(broken), (), defect)
    tell(f"{allocator}: suites")
    by_word = any(each.judged.rule == "misaligned" for each in broken)
    suites = tuple(host_contract.suites(folder, _WORD_BYTES) if by_word else host_contract.suites(folder))
    return Contract(row, count, tuple(broken), suites, defect)


def _shortest(
    folder: Path, operations: Sequence[str], result: Judged, within_s: int, passing: Sequence[str]
) -> Broken:
    def judged(candidate: Sequence[str]) -> Judged:
        return host_contract.judge(folder, candidate, within_s, passing)

    def breaks(candidate: Sequence[str]) -> bool:
        return judged(candidate).rule == result.rule

    # What stands behind the operation that broke the rule never ran.
    ran = operations[: len(result.places) + 1]
    tries = _TRIES_OF_HANGS if result.rule == "never_returns" else _TRIES
    shortest = shrink(ran if breaks(ran) else operations, breaks, tries)
    return Broken(tuple(shortest), judged(shortest))
