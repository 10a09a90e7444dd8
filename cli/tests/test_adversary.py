"""`./lab heap adversary`: what its words ask for, what it prints and keeps, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

from cli.tests.typed import refused
from cli.work import adversary
from scenarios import trace
from studies.adversary import text
from studies.adversary.search import What
from studies.adversary.study import Space, Time
from tests.tables import table


def test_a_small_search_gives_its_rows_and_keeps_its_winners(tmp_path: Path) -> None:
    free, spread = adversary.run(
        ["seglist"],
        budget={"lists": 300},
        what=("free", "fragmentation"),
        seed=5,
        live=4096,
        jobs=1,
        output=tmp_path / "found",
        states=tmp_path / "states",
    )
    assert (free.allocator, free.what, free.lists, free.seed) == ("seglist", "free", 300, 5)
    assert isinstance(free.found, Time)
    assert isinstance(spread.found, Space)
    # A free of seglist looks at three headers, so a short search comes near its bound.
    assert free.bound_instructions is not None
    assert 0.8 * free.bound_instructions < free.found.instructions <= free.bound_instructions
    assert spread.found.peak_live_bytes <= 4096
    assert spread.found.used_bytes >= spread.found.peak_live_bytes
    for row in (free, spread):
        winner = trace.read(tmp_path / "found" / f"seglist-{row.what}.csv")
        assert winner.operations[:, [0, 2]].tolist() == row.operations[:, [0, 2]].tolist()
        json.dumps(row.as_json())
    shown = text.as_text([free, spread])
    assert "found/bound" in shown
    assert "found/live" in shown


def test_all_leaves_out_what_cannot_be_searched() -> None:
    whats: list[What] = ["allocate", "free", "fragmentation"]
    pairs, left_out = adversary.choose(["all"], whats)
    assert ("tlsf", "fragmentation") in pairs
    assert ("newlib", "free") in pairs
    assert ("heap_1", "free") not in pairs
    assert any(sentence.startswith("heap_1, free: left out.") for sentence in left_out)


@table
def test_what_cannot_be_is_refused(words: str, said: str) -> None:
    assert said in refused("heap", "adversary", "--allocator", *words.split())
