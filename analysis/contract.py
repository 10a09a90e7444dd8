"""An allocator against its contract: lists of operations, the shortest that break it, suites, and
the outcome in words (docs/tutorial/my-allocator.md).

The lists are drawn from a seed. An operation is a line of heap/tests/judge.c.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from base.processes import children
from base.tell import Tell
from firmware.build import catalogue, host_contract, host_heap
from firmware.build.host_contract import Judged, Suite
from firmware.build.promises import PROMISES, Promise

LISTS = 60
OPERATIONS = 120
_MOST_SLOTS = 60
"""Of the longest lists; judge.c has 64."""
_BOUNDARIES = (1, 8, 16, 24, 40, 64, 72, 112, 128, 136, 512, 1000, 1024, 1032, 4096)
_LARGE = (5_000, 11_000, 20_000, 30_000, 65_519)


def lists(promises: Set[str]) -> Iterator[list[str]]:
    """Lists of what the allocator promises. Short ones come first: first breaks are plain."""
    yield from _drawn(promises - {"merges"}, range(LISTS // 4))
    if "frees" in promises:
        yield from ([f"n {size}", f"n {size}"] for size in (1, 24, 64, 200, 1000))
    yield from _drawn(promises, range(LISTS // 4, LISTS))


_SIZE_MAX = (1 << 32) - 1
_AROUND_BYTES = 72
"""Below SIZE_MAX: more than any header, rounding up and smallest block together."""
_ALIGNMENTS = (16, 64, 1024, 4096)


def too_large(promises: Set[str]) -> list[str]:
    """Requests for more than any region has, between some that are served.

    Near SIZE_MAX a sum overflows. Above a power of two a size that is kept in fewer bits does.
    """
    sizes = [_SIZE_MAX - less for less in range(_AROUND_BYTES)]
    sizes += [(1 << bits) + more for bits in range(17, 32) for more in (-8, 0, 1, 8, 24, 40)]
    aligned = [
        (_SIZE_MAX - less, alignment)
        for alignment in (_ALIGNMENTS if "aligns" in promises else ())
        for less in (*range(24), *range(alignment - 24, alignment + 24), 2 * alignment)
    ]
    requests = [*((size, 0) for size in sizes), *aligned]
    before, after = ["a 0 24 0", "a 1 200 0", "a 2 24 0"], ["a 3 200 0"]
    if {"frees", "merges"} <= promises:
        before, after = ["n 48", *before, "f 1"], [*after, "e", "n 48"]
    return [*before, *(f"b {size} {alignment}" for size, alignment in requests), *after]


def _drawn(promises: Collection[str], numbers: Iterable[int]) -> Iterator[list[str]]:
    for number in numbers:
        source = random.Random(number)
        slots = 4 + (_MOST_SLOTS - 4) * number // LISTS
        body = list(_operations(source, promises, slots, 6 + OPERATIONS * number // LISTS))
        if "frees" in promises and "merges" in promises:
            yield ["n 48", *body, "e", "n 48"]
        else:
            yield [*body, *(["e"] if "frees" in promises else [])]


def _operations(source: random.Random, promises: Collection[str], slots: int, count: int) -> Iterator[str]:
    live: set[int] = set()
    frees, aligns = "frees" in promises, "aligns" in promises
    for _ in range(count):
        slot = source.randrange(slots)
        if slot not in live:
            alignment = source.choice((16, 32, 256, 1024)) if aligns and source.random() < 0.2 else 0
            yield f"a {slot} {_size(source)} {alignment}"
            live.add(slot)
        elif "reallocates" in promises and source.random() < 0.4:
            yield f"r {slot} {_size(source)}"
        elif frees:
            yield f"f {slot}"
            live.discard(slot)


def _size(source: random.Random) -> int:
    share = source.random()
    if share < 0.35:
        return source.randint(1, 64)
    if share < 0.6:
        return source.randint(1, 600)
    return source.choice(_BOUNDARIES) if share < 0.95 else source.choice(_LARGE)


def is_sound(operations: Sequence[str]) -> bool:
    """True if the heap is empty before each `n`, as far as the list itself tells."""
    live: set[str] = set()
    for operation in operations:
        kind, *words = operation.split()
        if kind == "n" and live:
            return False
        if kind == "a":
            live.add(words[0])
        elif kind == "f":
            live.discard(words[0])
        elif kind == "e":
            live.clear()
    return True


Breaks = Callable[[Sequence[str]], bool]

_SIZES = (1, 8, 24, 64, 256, 1024)


def shrink(operations: Sequence[str], breaks: Breaks, tries: int) -> list[str]:
    """A list that still breaks, after at most `tries` tries: first fewer operations (ddmin, Zeller
    and Hildebrandt 2002), then smaller sizes. `operations` must break.
    """
    left = iter(range(tries))

    def still(candidate: Sequence[str]) -> bool:
        return is_sound(candidate) and next(left, None) is not None and breaks(candidate)

    lines = list(operations)
    chunk = max(1, len(lines) // 2)
    while chunk:
        # Without a chunk, the last one first: what stands behind the break is of no use.
        begins = reversed(range(0, len(lines), chunk))
        shorter = ([*lines[:begin], *lines[begin + chunk :]] for begin in begins)
        without = next(filter(still, shorter), None)
        if without is None:
            chunk //= 2
        else:
            lines = without
    for number, operation in enumerate(lines):
        kind, *words = operation.split()
        if kind not in "ar":
            continue
        for size in (size for size in _SIZES if size < int(words[1])):
            smaller = " ".join([kind, words[0], str(size), *words[2:]])
            if still(changed := [*lines[:number], smaller, *lines[number + 1 :]]):
                lines = changed
                break
    return lines


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
            "operations": self.operations,
            "places": self.judged.places,
        }


@dataclass(frozen=True)
class Contract:
    """The result. `lists` is the number of judged lists, `broken` has each rule once. The suites
    run unless a list left the heap damaged.
    """

    row: catalogue.Allocator
    lists: int
    broken: tuple[Broken, ...]
    suites: Sequence[Suite]
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
            "suites": [suite._asdict() for suite in self.suites],
            "not_stated": self.not_stated,
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
    row = catalogue.row(allocator, host_heap.HostHeapError)
    tell(f"building the contract tests of {allocator}")
    folder = host_contract.build(allocator)
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

    for count, operations in enumerate(lists(row.promises), 1):
        tell(f"{allocator}: list {count}")
        sound = judged(operations)
        if not sound:
            break
    before = len(broken)
    judged(too_large(row.promises))
    defect = None
    if row.gives_too_large is not None and [each.judged.rule for each in broken[before:]] == ["too_large"]:
        defect = broken.pop()
    suites: Sequence[Suite] = ()
    rules = {each.judged.rule for each in broken}
    if sound and rules <= {"misaligned", "too_large"}:
        tell(f"{allocator}: suites")
        alignment_bytes = _WORD_BYTES if "misaligned" in rules else 2 * _WORD_BYTES
        suites = host_contract.suites(folder, alignment_bytes)
    return Contract(row, count, tuple(broken), suites, defect)


def _shortest(
    folder: Path, operations: Sequence[str], result: Judged, within_s: int, passing: Sequence[str]
) -> Broken:
    def breaks(candidate: Sequence[str]) -> bool:
        return host_contract.judge(folder, candidate, within_s, passing).rule == result.rule

    # What stands behind the operation that broke the rule never ran.
    ran = operations[: len(result.places) + 1]
    tries = _TRIES_OF_HANGS if result.rule == "never_returns" else _TRIES
    shortest = shrink(ran if breaks(ran) else operations, breaks, tries)
    return Broken(tuple(shortest), host_contract.judge(folder, shortest, within_s, passing))


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
        yield f"breaks the contract: {broken_rule(broken)}"
        yield from _numbered(broken.operations, broken.judged.places)
    if not contract.broken:
        yield f"{contract.lists} lists of operations hold"
    if contract.suites and any(broken.judged.rule == "misaligned" for broken in contract.broken):
        yield "all else, with payloads held to multiples of 4:"
    yield from map(_suite, contract.suites)
    if contract.defect is not None:
        yield (
            f"a known defect, which the bench's judge keeps from it: {broken_rule(contract.defect)} "
            f"{contract.row.gives_too_large}."
        )
    if contract.not_stated and not source:
        yield f"not promised, so not tested: {', '.join(contract.not_stated)}"
    elif source and contract.not_stated:
        yield (
            "not stated, so not tested: to have it tested, state what is true of yours as promises = […] in "
            f"{source.file.with_suffix('.toml').name} beside it:"
        )
        yield from (f"  {promise:14} {MEANINGS[promise]}" for promise in contract.not_stated)
    yield "the contract holds" if contract.holds else "the contract is broken"


def _suite(suite: Suite) -> str:
    if suite.passed:
        return f"  {suite.name:14} holds"
    match = _ASSERTION.search(suite.said)
    where = f"{match['what']} ({match['where']})" if match else children.last_words(suite.said)
    demand = _DEMANDS.get(suite.name)
    return f"  {suite.name:14} broken: {where}" + (f"\n  {'':14} it demands that {demand}" if demand else "")


def broken_rule(broken: Broken) -> str:
    """The rule that the last of the operations broke, in a sentence."""
    judged = broken.judged
    if judged.outcome[0] == "died":
        if judged.rule == "sanitizer":
            return f"the last operation does what C forbids: {judged.reason or 'a sanitizer stopped it'}."
        if judged.reason:
            return f"the last operation breaks what the code requires: {judged.reason}."
        if judged.rule == "never_returns":
            return "the last operation never returns."
        number = judged.numbers[0]
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        return f"the last operation crashes ({name})."
    first, second = judged.numbers
    slots = {line.split()[1] for line in broken.operations if line[0] in "arf"}
    block = f"block{first}" if str(first) in slots else "another block of the filled heap"
    return {
        "misaligned": f"a payload lies at region + {first:,}, which is no multiple of {second}.",
        "outside": f"a block of {second:,} bytes lies outside the region, {_place(first)}.",
        "overlap": f"a block at region + {second:,} overlaps {block}, which is live.",
        "small": f"a block is said to hold {first:,} bytes, and {second:,} were asked for.",
        "contents": f"the content of {block} was changed, and nobody wrote to it.",
        "status": f"an allocation that gave {'a block' if second else 'no block'} has status {first}.",
        "refused_free": f"the free of a live block, at region + {second:,}, has status {first}.",
        "lost": f"memory is lost: {first:,} blocks were served from the empty heap, and now {second:,}.",
        "too_large": f"a request for {second:,} bytes, more than any region has, gets a block "
        f"{_place(first)}.",
        "unsound": "allocator_check() finds the heap damaged.",
    }[judged.rule]


def _place(offset: int) -> str:
    return f"at region + {offset:,}" if offset < 1 << 31 else f"at region - {(1 << 32) - offset:,}"


def _numbered(operations: Sequence[str], places: Sequence[str]) -> Iterator[str]:
    calls = zip_longest(operations, places[: len(operations)], fillvalue="")
    for number, (operation, place) in enumerate(calls, 1):
        result = ""
        if place and operation[0] == "n":
            result = f"{int(place):,} blocks"
        elif place and operation[0] not in "fe":
            result = "refused" if place == "-" else f"region + {int(place):,}"
        yield f"  {number:3}  {_call(operation):34} {result}".rstrip()


def _call(operation: str) -> str:
    kind, *words = operation.split()
    if kind in "ab":
        slot, size, alignment = words if kind == "a" else ("", *words)
        aligned = f", aligned to {alignment}" if alignment != "0" else ""
        return f"{f'block{slot} = ' if slot else ''}allocate({size}{aligned})"
    if kind == "r":
        return f"block{words[0]} = reallocate(block{words[0]}, {words[1]})"
    if kind == "f":
        return f"free(block{words[0]})"
    return "free all" if kind == "e" else f"allocate({words[0]}) until full, free all"
