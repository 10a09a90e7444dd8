"""`./lab heap adversary`: what its words ask for, what it prints and keeps, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.heap import adversary
from cli.shell import start
from cli.tests.typed import refused
from scenarios import trace
from studies.adversary import search
from studies.adversary.search import What
from tests.tables import table


def test_a_small_search_gives_its_rows_and_keeps_its_winners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, "STATES", tmp_path / "states")
    words = "--allocator seglist --budget 300 --what free,fragmentation --seed 5 --live 4096 --jobs 1"
    command = ["heap", "adversary", *words.split(), "--output", str(tmp_path)]
    assert start.run([*command, "--json"]) == 0
    free, spread = json.loads(capsys.readouterr().out)
    assert (free["allocator"], free["what"], free["lists"], free["seed"]) == ("seglist", "free", 300, 5)
    # A free of seglist looks at three headers, so a short search comes near its bound.
    bound = free["bound_instructions"]
    assert 0.8 * bound < free["found"]["instructions"] <= bound
    assert spread["found"]["used_bytes"] >= spread["found"]["peak_live_bytes"] <= 4096
    for row in (free, spread):
        assert len(trace.read(tmp_path / f"seglist-{row['what']}.csv").operations) == row["operations"]
    assert start.run(command) == 0
    shown = capsys.readouterr().out
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
