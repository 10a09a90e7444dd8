"""The worst cases that are known: lists of operations that somebody thought out.

Each is made for one kind of allocator, and tried on every one. All keep to the scale of a search: a
region of 64 KiB, 4,096 operations, 2,048 slots. What an allocator refuses is left out there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count

from scenarios import catalogue
from scenarios.trace import Trace, TraceBuilder, of_steps

_PAIRS = 1000
_REGION_BYTES = 65_536
_HEADER_BYTES = 16

# The smallest victims that lie in the list of a larger request, by how allocators divide sizes.
_VICTIM_REQUEST_BYTES = ((8, 16), (16, 24), (24, 32), (72, 120))


@cache
def worst_cases() -> tuple[Trace, ...]:
    """Those of time: where a single allocation or free is to take long."""
    lists = [_list(victim, request) for victim, request in _VICTIM_REQUEST_BYTES]
    return (*lists, _halving(), _merge(), _tree(), _trie(), *map(_scenario, ("mem_frag", "mem_stress")))


def spread(live_bytes: int, smallest_bytes: int) -> Trace:
    """That of space: few live bytes, as far apart as can be.

    Blocks of one size, of which every other is freed, then blocks twice as large that fit no hole,
    and so on (J. M. Robson, Journal of the ACM 18, 1971, in its plainest form).
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


def _scenario(name: str) -> Trace:
    found = catalogue.load(name)
    return of_steps(name, found.generator.steps())


def _list(victim_bytes: int, request_bytes: int) -> Trace:
    """Free blocks that are all too small, and behind them in the list those that are large enough.

    Then a request; then the frees of the live blocks that lie first and last.
    """
    builder = TraceBuilder()
    for pair in range(_PAIRS):
        builder.allocate(f"victim {pair}", victim_bytes)
        builder.allocate(f"spacer {pair}", 8)
    rest = list(_fill(builder))
    for name in rest:
        builder.free(name)
    for pair in range(_PAIRS):
        builder.free(f"victim {pair}")
    builder.allocate("request", request_bytes)
    builder.free("spacer 0")
    builder.free(f"spacer {_PAIRS - 1}")
    return builder.trace(f"list of {victim_bytes}")


def _fill(builder: TraceBuilder) -> Iterator[str]:
    """Takes what is left of the region, in large pieces first."""
    for power in range(15, 9, -1):
        name = f"rest {power}"
        builder.allocate(name, (1 << power) - _HEADER_BYTES)
        yield name


def _halving() -> Trace:
    """The smallest block, asked for while all is free, and freed: all halvings and merges."""
    builder = TraceBuilder()
    builder.allocate("smallest", 1)
    builder.free("smallest")
    return builder.trace("halving")


def _merge() -> Trace:
    """The free of a block between two free ones, each the only one of its size."""
    builder = TraceBuilder()
    for name, size in (("before", 1000), ("between", 2000), ("behind", 3000), ("guard", 8)):
        builder.allocate(name, size)
    for name in ("before", "behind", "between"):
        builder.free(name)
    return builder.trace("merge")


def _tree() -> Trace:
    """Free blocks of as many sizes as the region holds; a request between them, and a free between
    two of them.
    """
    builder = TraceBuilder()
    sizes = []
    taken = 0
    for size in range(24, _REGION_BYTES, 8):
        taken += size + 24 + 2 * _HEADER_BYTES
        if taken > _REGION_BYTES:
            break
        sizes.append(size)
        builder.allocate(f"victim {size}", size)
        builder.allocate(f"spacer {size}", 24)
    for size in sizes:
        builder.free(f"victim {size}")
    builder.allocate("request", sizes[-1])
    builder.free(f"spacer {sizes[len(sizes) // 2]}")
    return builder.trace("tree")


def _trie() -> Trace:
    """In a bitwise trie of the sizes from 4,096 on, a way with a node for each bit, each too small
    for the request; beside it a small free block that was freed last.
    """
    builder = TraceBuilder()
    sizes = [6144 - (1 << power) for power in range(11, 3, -1)]
    for size in sizes:
        builder.allocate(f"node {size}", size)
        builder.allocate(f"spacer {size}", 8)
    builder.allocate("small", 64)
    builder.allocate("guard", 8)
    for size in sizes:
        builder.free(f"node {size}")
    builder.free("small")
    builder.allocate("request", 6136)
    builder.free(f"spacer {sizes[4]}")
    return builder.trace("trie")
