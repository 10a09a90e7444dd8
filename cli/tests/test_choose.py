"""`./lab choose`: from the words to the answer, and what it does not run twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.tests.typed import refused
from tests import lab


def test_the_smallest_board_is_asked_and_runs_that_are_stored_count(tmp_path: Path) -> None:
    words = ["choose", "mem_frag", "--board", "nucleo-f072rb", "--heap", "4k", "--limit", "50us", "--json"]
    words += ["--runs", str(tmp_path), "--allocator", "tlsf,seglist"]
    done = lab.run(*words)
    assert done.returncode in (0, 2), done.stderr
    answer = json.loads(done.stdout)
    assert (answer["heap_bytes"], answer["limit_ns"]) == (4_096, pytest.approx(50_000))
    folders = {path.name for path in tmp_path.iterdir()}
    rows = {row["allocator"]: row for row in answer["candidates"]}
    for name, row in rows.items():
        (run,) = (json.loads((tmp_path / f / "run.json").read_text()) for f in folders if f"-{name}." in f)
        assert (row["wait_ns"], row["flash_bytes"]) == (
            run["possible_wait"]["ns"],
            run["footprint"]["flash_bytes"],
        )
        assert row["smallest_heap_bytes"] <= 4_096

    # Another limit is another answer about the same runs.
    shortest = min(row["wait_ns"] for row in rows.values())
    words[words.index("50us")] = f"{int(shortest) - 200}ns"
    again = lab.run(*words, "--no-search")
    assert again.returncode == 1, again.stderr
    assert {path.name for path in tmp_path.iterdir()} == folders
    assert json.loads(again.stdout)["choice"] is None


def test_a_heap_that_no_run_can_have_is_refused_with_what_fits() -> None:
    sentence = refused("choose", "--board", "nucleo-f103rb", "--heap", "32KiB", "--limit", "10us")
    assert "32,768 bytes" in sentence
    assert "at most" in sentence
