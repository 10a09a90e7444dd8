"""The contract of an allocator in words."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from analysis.contract.contract import Broken, Contract
from base.processes import children
from firmware.build.host_contract import Judged, Suite
from firmware.build.promises import Promise

MEANINGS: dict[Promise, str] = {
    "frees": "blocks can be freed",
    "checks_frees": "a free of what is no live block is refused",
    "merges": "once nothing is live, the largest block is what it was at first",
    "reallocates": "allocator_reallocate() works",
    "aligns": "alignments above 8 are served, up to 4096",
    "counts_free": "free bytes and free blocks are exact",
    "knows_largest": "the largest free block is told exactly",
    "counts_probes": "allocator_probes() tells what the search looked at",
    "checks_heap": "allocator_check() walks the heap and sees damage",
    "tells_usable": "what a live block can hold is known at any time",
    "reuses_holes": "a freed block among live ones is found again by its size",
    "exact_overhead": "allocator_overhead is exact",
    "shrinks": "a reallocation to less gives the rest back",
}
"""As heap/catalogue.toml has them, short enough for a line."""

_DEMANDS = {
    "requests": "a request that nobody can serve is refused with its reason (request_judge() of request.h)",
    "contents": "live blocks keep their bytes, place and alignment through 4,000 operations",
    "recovery": "what was freed can be had again",
    "account": "the figures follow every operation, and the declared overhead is not too large",
    "reallocation": "a reallocation keeps the content, or says that there is none (HEAP_UNSUPPORTED)",
    "markers": "every operation is one critical section, and has one status",
    "fuzz": "lists of operations that reach new code keep all rules",
}
_ASSERTION = re.compile(r"^(?:.*/)?(?P<where>\w+\.c:[0-9]+): (?P<what>.*)$", re.MULTILINE)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def as_text(contract: Contract) -> str:
    """Lines: what was tried, what broke and how, what is not stated."""
    return "\n".join(_lines(contract))


def _lines(contract: Contract) -> Iterator[str]:
    source = contract.row.source
    yield (
        f"{contract.row.id}: {source.format}, {source.file.name}, sha256 {source.sha256}"
        if source
        else contract.row.id
    )
    for broken in contract.broken:
        yield f"breaks the contract: {sentence(broken)}"
        yield from _numbered(broken.operations, broken.judged.places)
    if not contract.broken:
        yield f"{contract.lists} lists of operations hold"
    if contract.suites:
        yield from _suites(contract)
    if contract.defect is not None:
        yield (
            f"a known defect, which the bench's judge keeps from it: {sentence(contract.defect)} "
            f"{contract.row.gives_too_large}."
        )
    if contract.not_stated:
        yield from _not_stated(contract)
    yield "the contract holds" if contract.holds else "the contract is broken"


def _suites(contract: Contract) -> Iterator[str]:
    if any(broken.judged.rule == "misaligned" for broken in contract.broken):
        yield "all else, with payloads held to multiples of 4:"
    yield from map(_suite, contract.suites)


def _not_stated(contract: Contract) -> Iterator[str]:
    source = contract.row.source
    if source is None:
        yield f"not promised, so not tested: {', '.join(contract.not_stated)}"
        return
    yield (
        "not stated, so not tested: to have it tested, state what is true of yours as promises = […] in "
        f"{source.file.with_suffix('.toml').name} beside it:"
    )
    yield from (f"  {promise:14} {MEANINGS[promise]}" for promise in contract.not_stated)


def _suite(suite: Suite) -> str:
    if suite.passed:
        return f"  {suite.name:14} holds"
    match = _ASSERTION.search(suite.said)
    where = f"{match['what']} ({match['where']})" if match else children.last_words(suite.said)
    demand = _DEMANDS.get(suite.name)
    return f"  {suite.name:14} broken: {where}" + (f"\n  {'':14} it demands that {demand}" if demand else "")


def sentence(broken: Broken) -> str:
    """The rule that the last of the operations broke, in a sentence."""
    judged = broken.judged
    if judged.outcome[0] == "died":
        return _death(judged)
    first, second = judged.numbers
    return {
        "misaligned": f"a payload lies at region + {first:,}, which is no multiple of {second}.",
        "outside": f"a block of {second:,} bytes lies outside the region, {_place(first)}.",
        "overlap": f"a block at region + {second:,} overlaps {_named(broken, first)}, which is live.",
        "small": f"a block is said to hold {first:,} bytes, and {second:,} were asked for.",
        "contents": f"the content of {_named(broken, first)} was changed, and nobody wrote to it.",
        "status": f"an allocation that gave {'a block' if second else 'no block'} has status {first}.",
        "refused_free": f"the free of a live block, at region + {second:,}, has status {first}.",
        "lost": f"memory is lost: {first:,} blocks were served from the empty heap, and now {second:,}.",
        "too_large": f"a request for {second:,} bytes, more than any region has, gets a block "
        f"{_place(first)}.",
        "unsound": "allocator_check() finds the heap damaged.",
    }[judged.rule]


def _death(judged: Judged) -> str:
    if judged.rule == "sanitizer":
        return f"the last operation does what C forbids: {judged.reason or 'a sanitizer stopped it'}."
    if judged.reason:
        return f"the last operation breaks what the code requires: {judged.reason}."
    if judged.rule == "never_returns":
        return "the last operation never returns."
    number = judged.numbers[0]
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    return f"the last operation crashes ({name})."


def _place(offset: int) -> str:
    return f"at region + {offset:,}" if offset < 1 << 31 else f"at region - {(1 << 32) - offset:,}"


def _names(operations: Sequence[str]) -> dict[str, str]:
    slots = dict.fromkeys(line.split()[1] for line in operations if line[0] in "arf")
    return {slot: _LETTERS[n] if n < len(_LETTERS) else f"block {n}" for n, slot in enumerate(slots)}


def _named(broken: Broken, slot: int) -> str:
    return _names(broken.operations).get(str(slot), "another block of the filled heap")


def _numbered(operations: Sequence[str], places: Sequence[str] = ()) -> Iterator[str]:
    names = _names(operations)
    calls = zip_longest(operations, places[: len(operations)], fillvalue="")
    for number, (operation, place) in enumerate(calls):
        yield f"  {number + 1:3}  {_call(operation, names):34} {_result(operation, place)}".rstrip()


def _call(operation: str, names: dict[str, str]) -> str:
    kind, *words = operation.split()
    if kind == "a":
        aligned = f", aligned to {words[2]}" if words[2] != "0" else ""
        return f"{names[words[0]]} = allocate({words[1]}{aligned})"
    if kind == "r":
        return f"{names[words[0]]} = reallocate({names[words[0]]}, {words[1]})"
    if kind == "b":
        return f"allocate({words[0]}{f', aligned to {words[1]}' if words[1] != '0' else ''})"
    if kind == "f":
        return f"free({names[words[0]]})"
    return "free all" if kind == "e" else f"allocate({words[0]}) until full, free all"


def _result(operation: str, place: str) -> str:
    if operation[0] == "n":
        return f"{int(place):,} blocks" if place else ""
    if not place or operation[0] in "fe":
        return ""
    return "refused" if place == "-" else f"region + {int(place):,}"
