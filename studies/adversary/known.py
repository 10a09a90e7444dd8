"""The worst cases that are known, as traces: what a search begins with, and what it is compared to.

A known case is made for one kind of allocator, and tried on every one. All keep to the limits of a
search. firmware/heap/adversary/starts.c has those that are made here as recipes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from base import heap_size
from base.files.documents import open_toml
from scenarios import catalogue as scenario_catalogue
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.operations import MAX_SLOTS
from scenarios.trace import Trace, TraceBuilder, of_steps

_HEADER_BYTES = 16
_SPACER_BYTES = 8
_REST_BYTES = [(1 << power) - _HEADER_BYTES for power in range(15, 9, -1)]

# The smallest victims that lie in the list of a larger request, by how allocators divide sizes.
_VICTIM_REQUEST_BYTES = ((8, 16), (16, 24), (24, 32), (72, 120))


class Split(NamedTuple):
    """Blocks that are split, from the one that lies highest down.

    Each of `laps` blocks is freed, and `pieces` smaller ones are allocated in it; then every other
    piece is freed. What is left of a block stays free behind the pieces. It was never allocated, so
    as many free blocks take half as many slots as if each had been. And each block is found at
    once, since the lowest or the latest free block is the one at hand.

    With `upward` the lowest comes first, for allocators that leave the low end over: there the
    block above would merge with it.
    """

    block: int
    piece: int
    request: int
    laps: int
    pieces: int = 1
    upward: bool = False

    def trace(self) -> Trace:
        builder = TraceBuilder()
        for number in range(self.laps):
            builder.allocate(number, self.block)
        for number in range(self.laps)[:: 1 if self.upward else -1]:
            builder.free(number)
            for piece in range(self.pieces):
                builder.allocate((number, piece), self.piece)
            for piece in reversed(range(1, self.pieces, 2)):
                builder.free((number, piece))
        builder.allocate("request", self.request)
        builder.free((self.laps - 1, 0))
        return builder.trace(f"split {self.block}/{self.piece}")


SPLITS = [Split(**row) for row in open_toml(Path(__file__).with_name("splits.toml")).values["split"]]


def two_sizes() -> Trace:
    """Where nothing is merged: as many free blocks of the least size as there are slots, and the
    rest in blocks of the next.
    """
    builder = TraceBuilder()
    for size, number in ((8, 2047), (16, 1362)):
        for block in range(number):
            builder.allocate(block, size)
        for block in range(number):
            builder.free(block)
    builder.allocate("request", 24)
    return builder.trace("two sizes")


def fenced_then_split() -> Trace:
    """For best fit, which would put a small piece into a small free block: as many fenced blocks as
    there are slots, and then splits whose pieces do not fit these.
    """
    builder = TraceBuilder()
    _fence(builder, 1023, 16)
    for block in range(113):
        builder.allocate(block, 56)
    for block in reversed(range(113)):
        builder.free(block)
        builder.allocate(("piece", block), 24)
    builder.allocate("request", 8)
    return builder.trace("fenced, split")


@cache
def worst_cases() -> tuple[Trace, ...]:
    """The worst cases of time, in which a single allocation or free takes long.

    The constructions of `./lab heap worst`, two scenarios, the longest lists of fenced blocks that
    the slots and the region hold, and those of this module.
    """
    constructions = [_scenario("worst", target) for target in CONSTRUCTIONS]
    scenarios = [_scenario(name) for name in ("mem_frag", "mem_stress")]
    lists = [_list(*sizes) for sizes in _VICTIM_REQUEST_BYTES]
    splits = [split.trace() for split in SPLITS]
    return (*constructions, *scenarios, *lists, *splits, two_sizes(), fenced_then_split())


def spread(live_bytes: int, smallest_bytes: int) -> Trace:
    """The worst case of space: few live bytes, as far apart as possible.

    Blocks of one size, of which every other is freed, then blocks twice as large that fit no hole,
    and so on: in its plainest form the construction of J. M. Robson, "An estimate of the store size
    necessary for dynamic storage allocation", Journal of the ACM 18 (3), 1971, and "Bounds for some
    functions concerning dynamic storage allocation", Journal of the ACM 21 (3), 1974. "Worst case
    fragmentation of first fit and best fit storage allocation strategies", The Computer Journal 20
    (3), 1977, has those of the two strategies.
    """
    builder = TraceBuilder()
    live: list[tuple[int, int]] = []
    names = count()
    size = smallest_bytes
    while size <= live_bytes // 2:
        while sum(bytes_ for _, bytes_ in live) + size <= live_bytes:
            live.append((next(names), size))
            builder.allocate(*live[-1])
        for name, _ in live[1::2]:
            builder.free(name)
        live, size = live[::2], 2 * size
    return builder.trace("spread")


def _scenario(name: str, target: str = "") -> Trace:
    scenario = scenario_catalogue.load(name, {"target": target} if target else {})
    return of_steps(target or name, scenario.generator.steps())


def _list(victim_bytes: int, request_bytes: int) -> Trace:
    """Free blocks that are all too small, and behind them in the list those that are large enough:
    what is left of the region, in large pieces first. There are as many as the region holds, or as
    the slots do beside the rest and the request.

    Then a request; then the frees of the live blocks that lie first and last.
    """
    pair_bytes = victim_bytes + _SPACER_BYTES + 2 * _HEADER_BYTES
    pairs = min((MAX_SLOTS - len(_REST_BYTES) - 1) // 2, heap_size.DEFAULT_BYTES // pair_bytes)
    builder = TraceBuilder()
    _fence(builder, pairs, victim_bytes, _REST_BYTES)
    builder.allocate("request", request_bytes)
    builder.free(("spacer", 0))
    builder.free(("spacer", pairs - 1))
    return builder.trace(f"list of {victim_bytes}")


def _fence(builder: TraceBuilder, pairs: int, victim_bytes: int, rest_bytes: Sequence[int] = ()) -> None:
    """Free blocks of this size, with a small live one behind each; blocks of the rest are free
    before them.
    """
    for pair in range(pairs):
        builder.allocate(("victim", pair), victim_bytes)
        builder.allocate(("spacer", pair), _SPACER_BYTES)
    for size in rest_bytes:
        builder.allocate(("rest", size), size)
    for size in rest_bytes:
        builder.free(("rest", size))
    for pair in range(pairs):
        builder.free(("victim", pair))
