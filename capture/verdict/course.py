"""What each record must say of its operation, given what became of those before it.

Some entries of an image depend on others (docs/reference/operation-image.md): a retry runs only if
the allocation before it was refused, and behind one that is last if refused allocations are
skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scenarios.operations import CALLS, Allocate, Call, Free, Mark, Operation


class Due(NamedTuple):
    """`answers` are the kinds that the record may have. `size` is its size, None where nobody
    knows because a record before it is missing.
    """

    answers: str
    size: int | None


def due(operations: Sequence[Operation], kinds: Mapping[int, str]) -> list[Due]:
    """What is due of each operation; marks are left out. `kinds` says what became of each, by its
    number.

    Behind a missing record it is not known what runs, where that depends on others.
    """
    only_operations = [operation for operation in operations if not isinstance(operation, Mark)]
    allocations = [operation for operation in only_operations if isinstance(operation, Allocate)]
    depends = any(allocation.retry or allocation.last_if_refused for allocation in allocations)
    sizes: dict[int, int] = {}
    dues: list[Due] = []
    skips, before, sure = False, "", True
    for seq, operation in enumerate(only_operations):
        kind = kinds.get(seq, "")
        if isinstance(operation, Call):
            dues.append(Due("K", CALLS.index(operation.name)))
        elif isinstance(operation, Free):
            skips = False
            dues.append(Due("FNE", sizes[operation.id] if sure else None))
        else:
            skipped = skips or (operation.retry and before != "O")
            # A retry whose allocation was served leaves the block that was got.
            if not (operation.retry and before == "A"):
                sizes[operation.id] = operation.size
            dues.append(Due(("S" if skipped else "AO") if sure else "AOS", operation.size))
            skips = skips or (operation.last_if_refused and kind == "O")
        sure = sure and bool(kind or not depends)
        before = kind
    return dues
