"""The search itself, on the PC: repeatable, resumable, within its limits, and good enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from base import heap_size
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, FREE, TraceBuilder
from studies.adversary.search import MOST_OPERATIONS, Budget, Search, SearchResult, What

LIVE_BYTES = 4096
LISTS = 600


def searched(folder: Path, lists: int, what: What = "allocate", seed: int = 3) -> SearchResult:
    return Search("seglist", what, seed, LIVE_BYTES, folder).run(Budget(lists=lists))


def winner(result: SearchResult) -> list[list[int]]:
    return next(result.winners(1)).tolist()  # type: ignore[no-any-return]


def test_equal_seeds_and_budgets_give_equal_searches(tmp_path: Path) -> None:
    result, other = searched(tmp_path / "one", LISTS), searched(tmp_path / "other", LISTS)
    assert result.state.read_bytes() == other.state.read_bytes()
    assert winner(result) == winner(other)
    assert winner(searched(tmp_path / "one", LISTS, seed=4)) != winner(result)


@pytest.mark.parametrize("what", ["allocate", "free", "fragmentation"])
def test_winners_keep_to_their_limits(what: What, tmp_path: Path) -> None:
    """Against a count that knows nothing of the search."""
    limit_bytes = LIVE_BYTES if what == "fragmentation" else heap_size.DEFAULT_BYTES
    for operations in searched(tmp_path, LISTS, what).winners(5):
        assert len(operations) <= MOST_OPERATIONS
        live: dict[int, int] = {}
        builder = TraceBuilder()  # refuses what cannot be
        for kind, slot, size, _ in operations.tolist():
            if kind == ALLOCATE:
                live[slot] = size
                builder.allocate(slot, size)
            else:
                del live[slot]
                builder.free(slot)
            assert len(live) <= MAX_SLOTS
            assert sum(live.values()) <= limit_bytes
        if what != "fragmentation":
            assert operations[-1, 0] == (ALLOCATE if what == "allocate" else FREE)
