"""Makes a list of operations that breaks a rule as short as it can be, and its numbers small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from analysis.contract.lists import is_sound

Breaks = Callable[[Sequence[str]], bool]

_SIZES = (1, 8, 24, 64, 256, 1024)


def shrink(operations: Sequence[str], breaks: Breaks, tries: int) -> list[str]:
    """A list that still breaks, after at most `tries` tries: first fewer operations (ddmin, Zeller
    and Hildebrandt 2002), then smaller sizes. `operations` must break.
    """
    left = [tries]

    def still(candidate: Sequence[str]) -> bool:
        if left[0] == 0 or not is_sound(candidate):
            return False
        left[0] -= 1
        return breaks(candidate)

    return _smaller(_shorter(list(operations), still), still)


def _shorter(found: list[str], still: Breaks) -> list[str]:
    chunk = max(1, len(found) // 2)
    while True:
        without = next((one for one in _without(found, chunk) if still(one)), None)
        if without is not None:
            found = without
        elif chunk == 1:
            return found
        else:
            chunk = max(1, chunk // 2)


def _without(found: Sequence[str], chunk: int) -> Iterator[list[str]]:
    """The list without a chunk, the last one first: what stands behind the break is of no use."""
    for begin in reversed(range(0, len(found), chunk)):
        yield [*found[:begin], *found[begin + chunk :]]


def _smaller(found: list[str], still: Breaks) -> list[str]:
    for number, operation in enumerate(found):
        kind, *words = operation.split()
        if kind not in "ar":
            continue
        for size in (one for one in _SIZES if one < int(words[1])):
            changed = [*found]
            changed[number] = " ".join([kind, words[0], str(size), *words[2:]])
            if still(changed):
                found = changed
                break
    return found
