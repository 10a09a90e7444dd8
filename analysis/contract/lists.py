"""Lists of operations to judge an allocator by: drawn from a seed, then made short.

An operation is a line of heap/tests/judge.c.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set

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

    return _smaller(_shorter(list(operations), still), still)


def _shorter(lines: list[str], still: Breaks) -> list[str]:
    chunk = max(1, len(lines) // 2)
    while True:
        without = next((candidate for candidate in _without(lines, chunk) if still(candidate)), None)
        if without is not None:
            lines = without
        elif chunk == 1:
            return lines
        else:
            chunk = max(1, chunk // 2)


def _without(lines: Sequence[str], chunk: int) -> Iterator[list[str]]:
    """The list without a chunk, the last one first: what stands behind the break is of no use."""
    for begin in reversed(range(0, len(lines), chunk)):
        yield [*lines[:begin], *lines[begin + chunk :]]


def _smaller(lines: list[str], still: Breaks) -> list[str]:
    for number, operation in enumerate(lines):
        kind, *words = operation.split()
        if kind not in "ar":
            continue
        for size in (size for size in _SIZES if size < int(words[1])):
            changed = [*lines]
            changed[number] = " ".join([kind, words[0], str(size), *words[2:]])
            if still(changed):
                lines = changed
                break
    return lines
