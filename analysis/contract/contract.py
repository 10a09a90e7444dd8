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
_FUZZ = "fuzz"


@dataclass(frozen=True)
class Broken:
    """A rule that was broken: the list of operations, and what the judge said of it."""

    operations: tuple[str, ...]
    judged: Judged


@dataclass(frozen=True)
class Contract:
    """The result. `lists` is the number of judged lists; the suites run only if all hold."""

    row: Allocator
    lists: int
    broken: Broken | None
    suites: tuple[Suite, ...]
    fuzzed: tuple[str, ...] = ()
    """The shortest operations by which the suite `fuzz` breaks a rule, if it does."""

    @property
    def holds(self) -> bool:
        """True if nothing was broken."""
        return self.broken is None and all(suite.passed for suite in self.suites)

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
            "broken": self.broken
            and {
                "rule": self.broken.judged.rule,
                "numbers": self.broken.judged.numbers,
                "reason": self.broken.judged.reason,
                "operations": list(self.broken.operations),
                "places": list(self.broken.judged.places),
            },
            "suites": [
                {"name": suite.name, "passed": suite.passed, "said": suite.said} for suite in self.suites
            ],
            "fuzz_operations": list(self.fuzzed),
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
    judged = 0
    for operations in lists.lists(row.promises):
        tell(f"{allocator}: list {judged + 1}")
        judged += 1
        found = host_contract.judge(folder, operations, within_s)
        if not found.holds:
            tell(f"{allocator}: making a list of {len(operations)} operations shorter")
            limit_s = hang_within_s if found.rule == "never_returns" else within_s
            return Contract(row, judged, _shortest(folder, operations, found, limit_s), ())
    tell(f"{allocator}: suites")
    suites = tuple(host_contract.suites(folder))
    fuzz = next((suite for suite in suites if suite.name == _FUZZ and not suite.passed), None)
    if fuzz is None:
        return Contract(row, judged, None, suites)
    tell(f"{allocator}: making what the fuzzer found shorter")
    return Contract(row, judged, None, suites, _shortest_input(folder, fuzz.inputs, hang_within_s))


def _shortest_input(folder: Path, inputs: str, within_s: int) -> tuple[str, ...]:
    """The operations of the fuzzer's input, made shorter; empty if no input breaks a rule again."""
    content = host_contract.fuzz_input(folder, inputs)
    step = host_contract.FUZZ_OPERATION_BYTES
    operations = [content[at : at + step].hex() for at in range(0, len(content) - step + 1, step)]
    wanted = host_contract.fuzzed(folder, content, within_s).broken_at
    if not wanted:
        return ()

    def replayed(candidate: Sequence[str]) -> host_contract.Fuzzed:
        return host_contract.fuzzed(folder, bytes.fromhex("".join(candidate)), within_s)

    def breaks(candidate: Sequence[str]) -> bool:
        return replayed(candidate).broken_at == wanted

    return replayed(lists.shorter(operations, breaks, _TRIES)).operations


def _shortest(folder: Path, operations: Sequence[str], found: Judged, within_s: int) -> Broken:
    def breaks(candidate: Sequence[str]) -> bool:
        return host_contract.judge(folder, candidate, within_s).rule == found.rule

    # What stands behind the operation that broke the rule never ran.
    ran = operations[: len(found.places) + 1]
    tries = _TRIES_OF_HANGS if found.rule == "never_returns" else _TRIES
    shortest = shrink(ran if breaks(ran) else operations, breaks, tries)
    return Broken(tuple(shortest), host_contract.judge(folder, shortest, within_s))
