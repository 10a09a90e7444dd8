"""What loops.toml says of an allocator's loops, and the sentence for each slip in it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.bounds.image import LOOPS_FILE, Loops
from analysis.errors import NoBoundError
from base.tests.sentences import is_sentence
from firmware.build import catalogue
from tests.tables import table

STATED = """\
[[allocators]]
names = ["list"]
loops.find = "free_blocks + 9"
loops.insert = "2+3"
loops.unrolled = "free_blocks/4 + 1"
loops."mixed in list.h" = "7"
loops."mixed in list.c" = "6"
blocks.16 = { free = 24, between = 24 }
blocks.8 = { free = 16, between = 16 }
why = "a list"

[[allocators]]
names = ["other"]
loops.find = "THRESHOLD|free_blocks + 1"
blocks.16 = { free = 24, between = 24 }
never.heap_allocate = ["hole.rs:114"]
why = "a threshold"

[[allocators]]
names = ["list", "other"]
loops.both = "1"
why = "alike"

[[allocators]]
names = ["unmerged"]
loops.find = "free_blocks"
blocks.16 = { free = 16, between = 0, next = 24 }
why = "never merged"
"""


def loops(folder: Path, text: str, allocator: str, **knobs: int) -> Loops:
    (folder / "loops.toml").write_text(text)
    return Loops(allocator, 4_800, knobs, file=folder / "loops.toml")


def test_a_sum_is_that_of_its_terms(tmp_path: Path) -> None:
    facts = loops(tmp_path, STATED, "list")
    assert (facts.passes("insert", set()), facts.grows("insert")) == (5, False)
    # 200 blocks of 24 bytes, of which 100 are free.
    assert (facts.passes("find", set()), facts.grows("find")) == (109, True)
    assert facts.passes("unrolled", set()) == 26


def test_a_loop_goes_by_the_files_that_its_lines_come_from(tmp_path: Path) -> None:
    facts = loops(tmp_path, STATED, "list")
    assert facts.passes("mixed", {"list.h:3", "block.h:7"}) == 7
    assert facts.passes("mixed", {"list.c:3"}) == 6
    assert facts.passes("mixed", {"list.h:3", "list.c:3"}) == 7
    assert facts.passes("mixed", {"block.h:7"}) is None


def test_a_knob_at_0_leaves_the_free_blocks_as_the_only_end(tmp_path: Path) -> None:
    limited = loops(tmp_path, STATED, "other", THRESHOLD=4)
    assert (limited.passes("find", set()), limited.grows("find")) == (5, False)
    unlimited = loops(tmp_path, STATED, "other", THRESHOLD=0)
    assert (unlimited.passes("find", set()), unlimited.grows("find")) == (101, True)


def test_a_shorter_header_lets_more_blocks_be_free(tmp_path: Path) -> None:
    # 300 blocks of 16 bytes, of which 150 are free.
    assert loops(tmp_path, STATED, "list", HDR=8).passes("find", set()) == 159
    with pytest.raises(NoBoundError, match="how small blocks of list are"):
        loops(tmp_path, STATED, "list", HDR=4).passes("find", set())


def most_free(region: int, free: int, between: int, live: int) -> int:
    """Every way to fill a region with the least blocks from its beginning on, tried."""
    best = 0
    ways = [(0, 0, 0, True)]  # bytes taken, free blocks, live blocks, the last is live
    while ways:
        taken, frees, lives, may_be_free = ways.pop()
        best = max(best, frees)
        if may_be_free and taken + free <= region:
            ways.append((taken + free, frees + 1, lives, False))
        if taken + between <= region and lives < live:
            ways.append((taken + between, frees, lives + 1, True))
    return best


@pytest.mark.parametrize("live", [1, 3, 9])
@table
@pytest.mark.parametrize("region", [5, 17, 24, 29])
def test_free_blocks_are_as_many_as_any_layout_has(
    region: int, free: int, between: int, live: int, tmp_path: Path
) -> None:
    blocks = f"blocks.16 = {{ free = {free}, between = {between} }}"
    text = f'[[allocators]]\nnames = ["one"]\n{blocks}\nloops.find = "free_blocks"\nwhy = "small"\n'
    (tmp_path / "loops.toml").write_text(text)
    facts = Loops("one", region, {}, file=tmp_path / "loops.toml", live_blocks=live)
    assert facts.passes("find", set()) == most_free(region, free, between, live)


def test_where_nothing_is_merged_as_many_of_the_least_are_free_as_were_live(tmp_path: Path) -> None:
    facts = loops(tmp_path, STATED, "unmerged")
    assert facts.passes("find", set()) == 300
    # 120 blocks of 16 bytes; the other 2,880 bytes hold 120 of 24.
    assert replace(facts, live_blocks=120).passes("find", set()) == 240


@table
def test_a_slip_gets_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in STATED
    with pytest.raises(NoBoundError) as refusal:
        loops(tmp_path, STATED.replace(old, new, 1), "list", THRESHOLD=4).passes("insert", set())
    mend = "" if "; add it." in sentence else "; mend it."
    expected = f"{tmp_path}/loops.toml:{sentence}{mend}"
    assert is_sentence(str(refusal.value), expected), str(refusal.value)


def test_the_file_names_allocators_and_knobs_that_there_are() -> None:
    knobs = {row.id: row.knobs for row in catalogue.allocators().values()}
    for said in tomllib.loads(LOOPS_FILE.read_text())["allocators"]:
        for allocator in said["names"]:
            for key in said["loops"]:
                function, _, source = key.partition(" in ")
                passes = Loops(allocator, 65_536, knobs[allocator]).passes(function, {f"{source}:1"})
                assert passes is not None and passes >= 0
