"""mem_stress against the same workload written in C, and its bounds under any parameters."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, median

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.generators.worst import CONSTRUCTIONS
from scenarios.generators.xorshift import Xorshift128
from scenarios.operations import Allocate, Free, Operation
from scenarios.parameters import Value
from scenarios.plan import Plan
from scenarios.trace import ALLOCATE, FREE, LAST_IF_REFUSED, RETRY, of_steps
from tests.tables import table

SOURCE = Path(__file__).with_name("mem_stress.c")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mem_stress.c, compiled for the host."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the host: install gcc")
    program = tmp_path_factory.mktemp("mem_stress") / "mem_stress"
    subprocess.run([compiler, "-O1", "-o", str(program), str(SOURCE)], check=True)
    return program


def in_the_reference_s_words(operations: pl.DataFrame) -> list[str]:
    """A line for each operation: its kind, its size and the ordinal of its allocation."""
    ordinals: dict[int, int] = {}
    lines, allocations = [], 0
    for kind, slot, size in operations.select("kind", "id", "size").iter_rows():
        if kind == "A":
            ordinals[slot] = allocations
            allocations += 1
        lines.append(f"{kind} {size} {ordinals[slot]}")
    return lines


@pytest.mark.parametrize("seed", [0x1234ABCD, 1, 0xFFFF_FFFF, 2_463_534_242])
def test_is_the_workload_of_the_reference(reference: Path, seed: int) -> None:
    printed = subprocess.run([str(reference), str(seed)], check=True, capture_output=True, text=True).stdout
    operations = catalogue.load("mem_stress", seed=seed).compile().operations
    assert in_the_reference_s_words(operations) == printed.splitlines()


def test_counts_are_the_article_s() -> None:
    plan = catalogue.load("mem_stress").compile()
    assert plan.operations["kind"].to_list().count("A") == 617
    assert plan.operations["kind"].to_list().count("F") == 583
    assert plan.operations["measured"].all()
    assert plan.operations["label"].null_count() == plan.operations.height
    assert plan.seed == 0x1234ABCD


# The structure of mem_frag: set-up, then one more free victim and its trials at every depth.


def ramp(overrides: Mapping[str, int] | None = None) -> pl.DataFrame:
    return catalogue.load("mem_frag", overrides or {}).compile().operations


def test_the_article_s_ramp() -> None:
    plan = catalogue.load("mem_frag").compile()
    table = plan.operations
    assert table.height == 512 + 256 * (1 + 3 * 2)
    assert labels_of(plan) == ["setup", *(f"depth {d}" for d in range(1, 257))]
    assert plan.seed is None
    assert table.filter("measured").height == 256 * (1 + 3 * 2)
    measured = table.filter(pl.col("measured") & (pl.col("kind") == "A"))
    assert set(measured["size"]) == {120}
    assert measured["trial"].to_list() == [1, 2, 3] * 256
    assert measured["depth"].to_list() == [d for d in range(1, 257) for _ in range(3)]


def labels_of(plan: Plan) -> list[str]:
    """The labels in the order of their numbers."""
    return plan.operations["label"].unique(maintain_order=True).to_list()


def test_victims_are_freed_oldest_first() -> None:
    table = ramp()
    victims = table.filter((pl.col("kind") == "A") & (pl.col("size") == 72))
    freed = table.filter((pl.col("kind") == "F") & (pl.col("size") == 72))
    assert freed["id"].to_list() == victims["id"].to_list()
    assert freed["depth"].to_list() == list(range(1, 257))
    assert freed["trial"].null_count() == 256
    assert freed["measured"].all()


@given(
    depth=st.integers(1, 60), trials=st.integers(1, 8), victim=st.integers(1, 500), more=st.integers(1, 500)
)
def test_at_depth_d_exactly_d_victims_are_free(depth: int, trials: int, victim: int, more: int) -> None:
    table = ramp(
        {
            "depth": depth,
            "trials": trials,
            "victim_bytes": victim,
            "spacer_bytes": 3,
            "request_bytes": victim + more,
        }
    )
    live: dict[int, int] = {}
    peak = 0
    for row in table.iter_rows(named=True):
        if row["kind"] == "F":
            assert live.pop(row["id"]) == row["size"]
            continue
        if row["measured"]:
            assert row["size"] == victim + more
            assert len(live) == 2 * depth - row["depth"]  # all spacers, and the victims still live
        live[row["id"]] = row["size"]
        peak = max(peak, len(live))
    assert peak <= 2 * depth + 1
    assert sorted(live.values()) == [3] * depth
    assert table["measured"].sum() == depth * (1 + 2 * trials)


# The offsets of a sweep, every cycle while the mask is raised and then in steps, and its heap.


SMALL: dict[str, str | int] = {
    "depth": 9,
    "depths": 3,
    "fine_cycles": 20,
    "step_cycles": 7,
    "base_cycles": 50,
    "cycles_per_block": 10,
}


def test_each_depth_is_swept_from_its_beginning_to_its_end() -> None:
    table = (
        catalogue.load("latency_sweep", SMALL).compile().operations.filter("measured", pl.col("kind") == "A")
    )
    for depth, span in ((3, 80), (6, 110), (9, 140)):
        phases = (table.filter(pl.col("depth") == depth)["offset"].cast(pl.Int64) - 40).to_list()
        assert phases == [*range(20), *range(20, span, 7)]


def test_the_depth_is_the_number_of_free_victims() -> None:
    table = catalogue.load("latency_sweep", SMALL).compile().operations
    victims = table.filter(pl.col("size") == 72, pl.col("kind") == "F")
    for row in table.filter("measured", pl.col("kind") == "A").iter_rows(named=True):
        assert victims.filter(pl.col("seq") < row["seq"]).height == row["depth"]


def test_an_empty_section_is_swept_before_the_depths() -> None:
    table = catalogue.load("latency_sweep", SMALL).compile().operations
    empty = table.filter(pl.col("kind") == "K")
    assert set(empty["offset"]) == set(range(40, 40 + 255))
    assert empty["seq"].max() < table.filter("measured", pl.col("kind") == "A")["seq"].min()  # type: ignore[operator]


def test_any_scenario_can_be_swept_and_only_its_measured_operations_are() -> None:
    table = catalogue.load("mem_frag", {"depth": 16}, stimulus="sweep:1000").compile().operations
    swept = table.filter("measured")["offset"].cast(pl.Int64) - 40
    assert table.filter(~pl.col("measured"))["offset"].sum() == 0
    # 48 requests, their frees, and those of 16 victims.
    assert len(swept) == 48 + 48 + 16 and swept.min() >= 0 and swept.max() < 1000  # type: ignore[operator]
    # The gaps between golden phases have at most three lengths. The greatest is below the sum of
    # the others.
    gaps = swept.sort().diff().drop_nulls()
    assert gaps.max() < 3 * 1000 / 112  # type: ignore[operator]


# The structure of sizes: the same pairs twice, and between them the fragments.


def test_the_same_pairs_come_before_and_behind_the_fragments() -> None:
    table = catalogue.load("sizes").compile().operations
    fresh, fragmented = (table.filter(pl.col("label") == label) for label in ("fresh", "fragmented"))
    same = ["kind", "id", "size", "measured", "trial"]
    assert fresh.select(same).equals(fragmented.select(same))
    assert fresh["size"].unique(maintain_order=True).to_list() == [2**n for n in range(3, 13)]
    assert fresh.height == 10 * 64 * 2
    assert fresh["kind"].to_list() == ["A", "F"] * 640
    assert fresh["measured"].all()


def test_the_fragments_are_those_of_mem_frag() -> None:
    setup = catalogue.load("sizes").compile().operations.filter(pl.col("label") == "setup")
    of_mem_frag = catalogue.load("mem_frag", {"trials": 1}).compile().operations
    victims = of_mem_frag.filter(
        (pl.col("label") == "setup") | ((pl.col("kind") == "F") & (pl.col("size") == 72))
    )
    assert setup.select("kind", "size").equals(victims.select("kind", "size"))
    assert not setup["measured"].any()


# The thesis's synthetic traces: their rules, and the peaks that its tables have.


PUBLISHED_PEAK_BYTES = {"small": 5777, "large": 33923, "random": 37061, "typical": 4972}
MOST_LIVE = {"small": 35, "large": 3, "random": 10, "typical": 15}


def peaks(name: str, seed: int) -> tuple[int, int]:
    """Most bytes and most blocks that are live at a time."""
    live: dict[int, int] = {}
    most = most_blocks = 0
    for step in catalogue.load(f"lifetimes_{name}", seed=seed).generator.steps():
        operation = step.operation
        if isinstance(operation, Allocate):
            live[operation.id] = operation.size
            most = max(most, sum(live.values()))
            most_blocks = max(most_blocks, len(live))
        elif isinstance(operation, Free):
            del live[operation.id]
    assert not live
    return most, most_blocks


@pytest.mark.parametrize("name", PUBLISHED_PEAK_BYTES)
def test_the_published_peak_is_one_that_a_seed_may_give(name: str) -> None:
    results = [peaks(name, seed) for seed in range(1, 25)]
    bytes_at_peak = [most for most, _ in results]
    assert min(bytes_at_peak) < PUBLISHED_PEAK_BYTES[name] < max(bytes_at_peak)
    assert median(bytes_at_peak) == pytest.approx(PUBLISHED_PEAK_BYTES[name], rel=0.08)
    assert max(blocks for _, blocks in results) <= MOST_LIVE[name]


def test_a_block_lives_as_many_allocations_as_were_drawn_and_one_at_least() -> None:
    overrides = {"allocations": 400, "ttl_max": 5}
    lives: dict[int, int] = {}
    lengths: list[int] = []
    number = 0
    last: list[int] = []
    for step in catalogue.load("lifetimes_random", overrides).generator.steps():
        operation = step.operation
        if isinstance(operation, Allocate):
            lives[operation.id], last = number, []
            number += 1
        elif isinstance(operation, Free):
            last.append(lives[operation.id])
            assert number == 400 or last == sorted(last)
            lengths.append(number - lives[operation.id])
    assert set(lengths[: 400 - 5]) == {1, 2, 3, 4, 5}
    # A draw of 0 and a draw of 1 both live for one allocation.
    assert lengths.count(1) == pytest.approx(400 / 3, rel=0.3)


# The periodic tasks: releases, memory of a period, stays, and what is refused.


TESTS = ("periodic_huge", "periodic_small", "periodic_hybrid")
ONE_TASK: dict[str, Value] = {
    "tasks": 1,
    "ticks": 100,
    "period_min_ticks": 10,
    "period_max_ticks": 10,
    "memory_min_bytes": 1000,
    "memory_max_bytes": 1000,
    "stay_min_periods": 3,
    "stay_max_periods": 3,
    "small_min_bytes": 300,
    "small_max_bytes": 300,
}


def of_tasks(overrides: dict[str, Value]) -> list[Allocate | Free]:
    steps = catalogue.load("periodic_small", overrides).generator.steps()
    return [step.operation for step in steps if isinstance(step.operation, Allocate | Free)]


def test_a_task_allocates_at_each_release_what_its_memory_holds() -> None:
    """100 ticks of a period of 10 are 10 releases; 1,000 bytes hold three blocks of 300."""
    listed = of_tasks(ONE_TASK)
    assert sum(isinstance(operation, Allocate) for operation in listed) == 10 * 3
    assert sum(isinstance(operation, Free) for operation in listed) == 10 * 3


def test_a_block_stays_for_one_to_h_periods() -> None:
    """Of 3,000 releases, three blocks each: stays of 1, 2 and 3 are a third each."""
    born: dict[int, int] = {}
    stays: defaultdict[int, int] = defaultdict(int)
    allocated = 0
    for operation in of_tasks({**ONE_TASK, "ticks": 30_000}):
        release = allocated // 3  # frees come before the three allocations of their release
        if isinstance(operation, Allocate):
            born[operation.id] = release
            allocated += 1
        elif release < 3000:
            stays[release - born.pop(operation.id)] += 1
    assert set(stays) == {1, 2, 3}
    for share in stays.values():
        assert share / sum(stays.values()) == pytest.approx(1 / 3, abs=0.02)


def test_no_release_passes_the_memory_of_its_period() -> None:
    overrides = {**ONE_TASK, "small_min_bytes": 8, "small_max_bytes": 128, "stay_min_periods": 1}
    total, sums = 0, []
    for operation in of_tasks({**overrides, "stay_max_periods": 1}):
        if isinstance(operation, Free) and total:
            sums.append(total)
            total = 0
        elif isinstance(operation, Allocate):
            total += operation.size
    assert len(sums) == 10
    # The block that would have passed it has 128 bytes at most.
    assert all(1000 - 128 < each <= 1000 for each in sums)


@pytest.mark.parametrize("name", TESTS)
def test_the_live_bytes_take_about_60_percent_of_the_board_s_heap(name: str) -> None:
    peaks = []
    for seed in range(1, 25):
        live: dict[int, int] = {}
        peak = 0
        for step in catalogue.load(name, seed=seed).generator.steps():
            if isinstance(step.operation, Allocate):
                live[step.operation.id] = step.operation.size
                peak = max(peak, sum(live.values()))
            elif isinstance(step.operation, Free):
                del live[step.operation.id]
        assert not live
        peaks.append(peak)
    assert fmean(peaks) == pytest.approx(0.6 * 65_536, rel=0.15)


# until_full: what is drawn, how a refusal is met, and images with retries.


def test_the_numbers_are_those_of_the_paper_and_of_the_crate() -> None:
    # G. Marsaglia's own seeds; and the seed of the crate's test `test_xorshift_true_values`.
    paper = Xorshift128((123456789, 362436069, 521288629, 88675123))
    assert [paper.next() for _ in range(3)] == [3701687786, 458299110, 2500872618]
    x, y, z, w = struct.unpack("<4I", bytes(range(16, 0, -1)))
    crate = Xorshift128((x, y, z, w))
    assert [crate.next() for _ in range(4)] == [2081028795, 620940381, 269070770, 16943764]
    with pytest.raises(ValueError, match="not all 0"):
        Xorshift128((0, 0, 0, 0))


def test_the_seed_is_the_first_word_of_the_crate_s_state() -> None:
    state = 244905504285122192707088002030163722993
    words = struct.unpack("<4I", state.to_bytes(16, "little"))
    random = Xorshift128(words)
    scenario = catalogue.load("until_full_aligned", {"requests": 20})
    assert scenario.seed == words[0]
    steps = [step.operation for step in scenario.generator.steps() if isinstance(step.operation, Allocate)]
    for request in steps[::2]:
        assert request.size == 1 + random.next() % 123
        assert request.align_log2 == (random.next() & 0xFF) % 6


def listed(name: str, requests: int) -> list[Operation]:
    return [step.operation for step in catalogue.load(name, {"requests": requests}).generator.steps()]


def test_without_alignments_none_are_drawn() -> None:
    plain = listed("until_full", 50)
    assert {operation.align_log2 for operation in plain if isinstance(operation, Allocate)} == {0}
    assert all(
        operation.last_if_refused and not operation.retry
        for operation in plain
        if isinstance(operation, Allocate)
    )
    assert [operation.id for operation in plain if isinstance(operation, Free)] == list(range(49, -1, -1))


def test_a_trace_has_the_flags_too() -> None:
    steps = [Step(Allocate(5, 9)), Step(Allocate(5, 1, retry=True, last_if_refused=True)), Step(Free(5))]
    assert of_steps("made", steps).operations.tolist() == [
        [ALLOCATE, 0, 9, 0],
        [ALLOCATE + RETRY + LAST_IF_REFUSED, 0, 1, 0],
        [FREE, 0, 0, 0],
    ]
    with pytest.raises(ScenarioError, match="block 5 was not allocated just before"):
        of_steps("made", [Step(Allocate(5, 9)), Step(Allocate(6, 9)), Step(Allocate(5, 1, retry=True))])


# The constructions of the worst cases: how each heap is laid out, and what is refused.


def steps(target: str, blocks: int = 0) -> list[Step]:
    return list(catalogue.load("worst", {"target": target, "blocks": blocks}).generator.steps())


def sizes(listed: list[Step]) -> dict[int, int]:
    return {step.operation.id: step.operation.size for step in listed if isinstance(step.operation, Allocate)}


def freed_sizes(listed: list[Step]) -> list[int]:
    """Of the set-up, in order."""
    of = sizes(listed)
    return [of[step.operation.id] for step in listed[:-1] if isinstance(step.operation, Free)]


@pytest.mark.parametrize("target", CONSTRUCTIONS)
def test_one_operation_is_measured_and_it_is_the_last(target: str) -> None:
    listed = steps(target)
    assert [step.operation.measured for step in listed] == [False] * (len(listed) - 1) + [True]
    assert isinstance(listed[-1].operation, Free) == CONSTRUCTIONS[target].frees
    assert {step.label for step in listed[:-1]} <= {"setup"}
    assert listed[-1].label == target


def test_the_list_has_equal_blocks_that_cannot_merge_and_do_not_fit() -> None:
    listed = steps("list", 3)
    assert [step.operation.size for step in listed[:6] if isinstance(step.operation, Allocate)] == [40, 8] * 3
    assert freed_sizes(listed) == [40, 40, 40]
    assert isinstance(listed[-1].operation, Allocate)
    assert listed[-1].operation.size == 56


def test_only_the_largest_of_a_tree_s_sizes_fits_and_it_is_freed_first() -> None:
    listed = steps("tree", 5)
    freed = freed_sizes(listed)
    assert isinstance(listed[-1].operation, Allocate)
    assert freed == sorted(freed, reverse=True)
    assert len(set(freed)) == 5
    assert freed[0] > listed[-1].operation.size > freed[1]


def test_a_way_down_a_trie_turns_right_at_every_bit() -> None:
    # One bin of powers of two, 2,048 to 4,095. In binary: 110000000000, 111000000000 …
    assert freed_sizes(steps("trie")) == [3072, 3584, 3840, 3968, 4032, 4064, 4080, 24]
    last = steps("trie")[-1].operation
    assert isinstance(last, Allocate)
    assert last.size == 4088


@table
def test_the_freed_block_lies_between_free_ones(target: str, neighbours: tuple[int, int]) -> None:
    listed = steps(target)
    order = [step.operation.id for step in listed if isinstance(step.operation, Allocate)]
    last = listed[-1].operation
    assert isinstance(last, Free)
    between = order.index(last.id)
    around = (order[between - 1], order[between + 1])
    freed = {step.operation.id for step in listed[:-1] if isinstance(step.operation, Free)}
    assert set(around) <= freed
    assert tuple(sizes(listed)[slot] for slot in around) == neighbours
