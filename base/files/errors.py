"""What a user can mend, told in one sentence; and what was probably meant by an unknown name.

It loads nothing, so it answers at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from .printable import printable_lines

CANNOT_SAY = 2
"""The exit status where something is refused."""


class TailscopeError(Exception):
    """Something is wrong that a user can mend; the message
    says in one sentence what, and what to do.

    The tasks print the message of any of these, without a traceback. Rooms have kinds of their own
    where somebody tells them apart. A name in it may be a stranger's, so it is made printable.
    A program that ends by one has its `exit_status`.
    """

    exit_status = CANNOT_SAY

    def __init__(self, message: object = "") -> None:
        super().__init__(printable_lines(str(message)))


class CaptureError(TailscopeError):
    """A capture cannot be made, read or used."""


class RunError(TailscopeError):
    """A run folder cannot be read or shown."""


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, or its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


_MOST_CHARACTERS = 80
"""Of what was given. A longer text is no slip of the hand, and comparing it takes long."""


def nearest(given: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Those of `names` near `given`, in any case of letters, the nearest first."""
    by_folded = {name.casefold(): name for name in names}
    folded = given[:_MOST_CHARACTERS].casefold()
    return [by_folded[name] for name in difflib.get_close_matches(folded, list(by_folded), n=most)]


def near_miss(given: str, names: Collection[str]) -> str:
    """A question, led by a space, for what of `names` was probably meant; empty where nothing is
    near.
    """
    near = nearest(given, names, 1)
    return f" Did you mean {near[0]}?" if near else ""


def no_such(what: str, given: str, names: Collection[str], of: str = "") -> str:
    """The sentence for a name that is not among `names`; it lists them all where none is near.

    `what` is what the name should name, such as "allocator", `of` whose it would be.
    """
    opening = f"{f'{of} has' if of else 'There is'} no {what} {given[:_MOST_CHARACTERS]!r}"
    near = near_miss(given, names)
    return f"{opening}.{near}" if near else f"{opening}: choose from {', '.join(names)}."
