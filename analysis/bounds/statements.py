"""What the user, or the source, says of a program where its code alone does not tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Hint(NamedTuple):
    """What the source says of a loop: its body runs at most so often. `body` has source lines that
    are the body's alone, and none of the loop's condition.
    """

    at_most: int
    body: frozenset[str] = frozenset()


class Recursion(NamedTuple):
    """How often a function that calls itself runs for each call from elsewhere, or how many of its
    calls wait for each other; None if that is not said.
    """

    calls: int | None
    depth: int | None


@dataclass
class Stated:
    """What the user says: how often a loop goes round, and where calls through pointers go.

    `passes` takes the name of a function and the source lines of a loop in it, and gives how often
    its head is passed at the most, None if nothing is said of it. `hints` takes the addresses of
    its code, too, and gives how often its body runs, or what would tell it, in words; it is asked
    only where the code itself does not limit the loop. `copied` takes the address of a call of
    memcpy() or its like, and gives the most bytes, None if nothing is said of them. `called` takes
    the address of a call, and gives the entries of functions. No path leads on from a call of one
    of `untaken`. The branches of the source lines `never`, as `file.c:12`, are not taken.
    `recursions` are of functions that call themselves, by their names.
    """

    passes: Callable[[str, set[str]], int | None] = lambda _function, _lines: None
    hints: Callable[[str, set[str], Sequence[int]], Hint | str | None] = lambda _function, _lines, _code: None
    called: Callable[[int], Iterable[int]] = lambda _address: ()
    copied: Callable[[int], int | None] = lambda _address: None
    untaken: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    recursions: Mapping[str, Recursion] = field(default_factory=dict)
