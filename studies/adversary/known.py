"""The worst cases that are known: lists of operations that somebody thought out.

Each is made for one kind of allocator, and tried on every one. All keep to the scale of a search: a
region of 64 KiB, 4,096 operations, 2,048 slots. What an allocator refuses is left out there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

from scenarios import catalogue
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.trace import Trace, TraceBuilder, of_steps

_PAIRS = 1000
_HEADER_BYTES = 16

# The smallest victims that lie in the list of a larger request, by how allocators divide sizes.
_VICTIM_REQUEST_BYTES = ((8, 16), (16, 24), (24, 32), (72, 120))


@cache
def worst_cases() -> tuple[Trace, ...]:
    """Those of time: where a single allocation or free is to take long.

    The constructions of `./lab worst`, two scenarios, and the longest lists that the region holds
    of an allocator's smallest blocks: the list of `./lab worst` fits it with every allocator.
    """
    constructions = [_scenario("worst", {"target": target}, target) for target in CONSTRUCTIONS]
    scenarios = [_scenario(name) for name in ("mem_frag", "mem_stress")]
    lists = [_list(victim, request) for victim, request in _VICTIM_REQUEST_BYTES]
    return (*constructions, *scenarios, *lists)


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


def _scenario(name: str, parameters: dict[str, Any] | None = None, title: str | None = None) -> Trace:
    found = catalogue.load(name, parameters or {})
    return of_steps(title or name, found.generator.steps())


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
