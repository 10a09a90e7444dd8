"""What loops.toml says of an allocator's loops, and the sentence for each slip in it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from analysis.bounds.facts import LOOPS_FILE, Loops
from analysis.errors import NoBoundError
from base.files.tests.sentences import is_sentence
from firmware.build import catalogue

STATED = """\
[list]
blocks.16 = { free = 24, between = 24 }
blocks.8 = { free = 16, between = 16 }
loops.find = "free_blocks + 9"
loops.insert = "2+3"
loops.unrolled = "free_blocks/4 + 1"
loops."mixed in list.h" = "7"

[other]
unlimited = "THRESHOLD"
blocks.16 = { free = 24, between = 24 }
loops.find = "THRESHOLD + 1"
untaken.heap_allocate = ["hole.rs:114"]

[unmerged]
blocks.16 = { free = 16, between = 0, next = 24 }
loops.find = "free_blocks"
"""


def loops(folder: Path, text: str, allocator: str, **knobs: int) -> Loops:
    (folder / "loops.toml").write_text(text)
    return Loops(allocator, 4_800, knobs, file=folder / "loops.toml")


def test_a_sum_is_that_of_its_terms(tmp_path: Path) -> None:
    stated = loops(tmp_path, STATED, "list")
    assert (stated.passes("insert"), stated.region_decided) == (5, False)
    # 200 blocks of 24 bytes, of which 100 are free.
    assert (stated.passes("find"), stated.region_decided) == (109, True)
    assert stated.passes("unrolled") == 26


def test_a_loop_goes_by_the_file_that_it_comes_from(tmp_path: Path) -> None:
    stated = loops(tmp_path, STATED, "list")
    assert stated.passes("mixed", "list.h") == 7
    with pytest.raises(NoBoundError, match=r"^mixed in list\.c has a loop"):
        stated.passes("mixed", "list.c")


def test_a_knob_at_0_leaves_the_free_blocks_as_the_only_end(tmp_path: Path) -> None:
    limited = loops(tmp_path, STATED, "other", THRESHOLD=4)
    assert (limited.passes("find"), limited.region_decided) == (5, False)
    unlimited = loops(tmp_path, STATED, "other", THRESHOLD=0)
    assert (unlimited.passes("find"), unlimited.region_decided) == (101, True)


def test_a_branch_is_untaken_for_one_function_of_the_facade(tmp_path: Path) -> None:
    stated = loops(tmp_path, STATED, "other")
    assert stated.untaken("heap_allocate") == {"hole.rs:114"}
    assert stated.untaken("heap_allocate_aligned") == frozenset()


def test_a_shorter_header_lets_more_blocks_be_free(tmp_path: Path) -> None:
    # 300 blocks of 16 bytes, of which 150 are free.
    assert loops(tmp_path, STATED, "list", HDR=8).passes("find") == 159
    with pytest.raises(NoBoundError, match="how small blocks of list are"):
        loops(tmp_path, STATED, "list", HDR=4).passes("find")


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
@pytest.mark.parametrize(("free", "between"), [(3, 3), (5, 3), (2, 4)])
@pytest.mark.parametrize("region", [5, 17, 24, 29])
def test_free_blocks_are_as_many_as_any_layout_has(
    region: int, free: int, between: int, live: int, tmp_path: Path
) -> None:
    text = f'[one]\nblocks.16 = {{ free = {free}, between = {between} }}\nloops.find = "free_blocks"\n'
    (tmp_path / "loops.toml").write_text(text)
    stated = Loops("one", region, {}, file=tmp_path / "loops.toml", live_blocks=live)
    assert stated.passes("find") == most_free(region, free, between, live)


def test_where_nothing_is_merged_as_many_of_the_least_are_free_as_were_live(tmp_path: Path) -> None:
    stated = loops(tmp_path, STATED, "unmerged")
    assert stated.passes("find") == 300
    stated.live_blocks = 120
    # 120 blocks of 16 bytes; the other 2,880 bytes hold 120 of 24.
    assert stated.passes("find") == 240


@pytest.mark.parametrize("allocator", ["list", "unheard"])
def test_what_is_not_stated_has_no_bound(tmp_path: Path, allocator: str) -> None:
    with pytest.raises(NoBoundError, match=r"^remove has a loop of which no bound is stated\.$"):
        loops(tmp_path, STATED, allocator).passes("remove")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"2+3"',
            "5",
            "5: list.loops.insert must be a sum of numbers, knobs and free_blocks in quotation marks, not 5",
        ),
        ('"2+3"', '"2 - 3"', "5: list.loops.insert must be a sum of *, not '2 - 3'"),
        ('"2+3"', '"2 +"', "5: list.loops.insert must be a sum of *, not '2 +'"),
        ('"2+3"', '"free_block"', "5: list.loops.insert must be a sum of *, not 'free_block'"),
        ("free = 24, ", "free = 0, ", "2: list.blocks.16.free must be greater than 0, not 0"),
        ("[list]", "list = 5\n[another]", "1: list must be a table of keys and values, not 5"),
        ('"2+3"', '"THRESHOLDS"', "5: list.loops.insert names THRESHOLDS, which is no knob of the image"),
        ('"2+3"', '"2', "5: the file is not valid TOML: *"),
    ],
)
def test_a_slip_gets_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in STATED
    with pytest.raises(NoBoundError) as refusal:
        loops(tmp_path, STATED.replace(old, new), "list", THRESHOLD=4).passes("insert")
    expected = f"{tmp_path}/loops.toml:{sentence}; mend it."
    assert is_sentence(str(refusal.value), expected), str(refusal.value)


def test_the_file_names_allocators_and_knobs_that_there_are() -> None:
    knobs = {row.id: row.knobs for row in catalogue.allocators().values()}
    for allocator, stated in tomllib.loads(LOOPS_FILE.read_text()).items():
        for key in stated["loops"]:
            function, _, source = key.partition(" in ")
            assert Loops(allocator, 65_536, knobs[allocator]).passes(function, source) >= 0
