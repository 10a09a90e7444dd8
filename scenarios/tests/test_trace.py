"""Traces from files: what they may say, and the line of what they may not."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import catalogue, trace
from scenarios import trace as scenarios_trace
from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.operations import Allocate, Call, Free, decode
from scenarios.scaling import Room, Scaling, board
from scenarios.trace import ALLOCATE, FREE, REALLOCATE, Trace, TraceBuilder, of_steps
from tests.sentences import Sentences


def written(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_slots_are_used_again(tmp_path: Path) -> None:
    lines = "# of a test\na,0x20001000,24\na,b,8,64\n\nf,0x20001000\r\n a , 7 , 16\nr,b,40\nf,7\n"
    read_trace = trace.read(written(tmp_path, lines))
    assert read_trace.operations.tolist() == [
        [ALLOCATE, 0, 24, 0],
        [ALLOCATE, 1, 8, 64],
        [FREE, 0, 0, 0],
        [ALLOCATE, 0, 16, 0],
        [REALLOCATE, 1, 40, 0],
        [FREE, 0, 0, 0],
    ]
    assert (read_trace.name, read_trace.seed) == ("trace.csv", None)


def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path, sentences: Sentences) -> None:
    for text in (
        *("a,1,8\nf,1\nf,1\n", "a,1,8\nf,2\n", "a,1,8\na,1,8\n", "r,1,8\n", "a,1,0\n", "a,1,4294967296\n"),
        *("a,1,8,24\n", "a,1,-8\n", "a,1\n", "f,1,8\n", "x,1,8\n", "a,,8\n"),
        *("a,1,8,16,@x\n", "a,1,8\n" + "f," + "1" * 600 + "\n", "# nothing\n"),
    ):
        with sentences.raised(ScenarioError):
            trace.read(written(tmp_path, text))


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a,1,8\nf,1\n" * 3)
    monkeypatch.setattr(trace, "MOST_OPERATIONS", 5)
    with pytest.raises(ScenarioError, match="line 6: a trace has 5 operations at most; cut it there"):
        trace.read(path)
    monkeypatch.setattr(trace, "MOST_BYTES", 20)
    with pytest.raises(ScenarioError, match="it has more than 20 bytes"):
        trace.read(path)
    with pytest.raises(ScenarioError, match="a device or a pipe"):
        trace.read(Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ScenarioError, match="a device or a pipe"):
        trace.read(tmp_path / "pipe")


@given(st.lists(st.sampled_from(["a", "f", "r", "1", "2", ",", "8", "\n", "@", "#", "\0", "é", " "])))
def test_no_slip_ends_in_another_exception(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), "a,1,8\n" + "".join(pieces))
    with suppress(ScenarioError):
        assert len(trace.read(path).operations) >= 1


def test_the_steps_of_a_scenario_without_its_calls() -> None:
    steps = [Step(Allocate(3, 24, align_log2=6)), Step(Call("queue_send")), Step(Free(3))]
    assert of_steps("made", steps, 5).operations.tolist() == [[ALLOCATE, 0, 24, 64], [FREE, 0, 0, 0]]
    with pytest.raises(ScenarioError, match=r"made, step 1: block 3 is live already; free it first\."):
        of_steps("made", [Step(Allocate(3, 24)), Step(Allocate(3, 24))])


# Traces made smaller, against a plain twin that walks through them block by block.


TRACES = Path(__file__).resolve().parents[1] / "traces"
BOARD = board(21_840, 2_048, 65_536)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Any order of allocations, reallocations and frees."""
    live: list[int] = []
    builder, number = TraceBuilder(), 0
    for _ in range(draw(st.integers(1, 60))):
        what = draw(st.sampled_from("aafr")) if live else "a"
        size = draw(st.integers(1, 5000))
        if what == "a":
            number += 1
            live.append(number)
            builder.allocate(number, size, draw(st.sampled_from([0, 64])))
        elif what == "r":
            builder.reallocate(draw(st.sampled_from(live)), size)
        else:
            builder.free(live.pop(draw(st.integers(0, len(live) - 1))))
    return builder.trace("drawn")


def by_block(trace: Trace) -> list[list[tuple[int, int, int, int]]]:
    """(number, kind, size, alignment) of each block's operations, in the order of allocations."""
    held: dict[int, int] = {}
    block_lists: list[list[tuple[int, int, int, int]]] = []
    for number, (kind, slot, size, alignment) in enumerate(trace.operations.tolist()):
        if kind == ALLOCATE:
            held[slot] = len(block_lists)
            block_lists.append([])
        block_lists[held[slot]].append((number, kind, size, alignment))
    return block_lists


def plain(trace: Trace, one_in: int, divide: int) -> list[list[tuple[int, int, int, int]]]:
    """The blocks that are kept."""

    def key(block: list[tuple[int, int, int, int]]) -> tuple[int, int, int]:
        end = block[-1][0] if block[-1][1] == FREE else len(trace.operations)
        largest = max(-(-size // divide) for _, _, size, _ in block)
        return largest.bit_length(), (end - block[0][0]).bit_length(), block[0][0]

    return sorted(sorted(by_block(trace), key=key)[one_in // 2 :: one_in])


def plain_room(blocks: list[list[tuple[int, int, int, int]]], divide: int) -> Room:
    entries, most, most_bytes, most_gross = 0, 0, 0, 0
    live: Counter[tuple[int, int]] = Counter()
    steps = sorted((*operation, number) for number, block in enumerate(blocks) for operation in block)
    for _, kind, size, _, number in steps:
        size = -(-size // divide)
        before = [key for key in live if key[0] == number]
        if kind != FREE:
            entries += 1
            live[number, size] += 1
        most = max(most, live.total())
        most_bytes = max(most_bytes, sum(key[1] * n for key, n in live.items()))
        most_gross = max(most_gross, sum((-(-key[1] // 8) * 8 + 16) * n for key, n in live.items()))
        if before:
            entries += 1
            live[before[0]] -= 1
            live += Counter()
    return Room(entries, most, most_bytes, most_gross)


@given(traces(), st.integers(1, 40), st.integers(1, 12), st.integers(1, 8000))
def test_the_chosen_scale_is_the_smallest_that_fits(
    trace: Trace, entries: int, blocks: int, heap_bytes: int
) -> None:
    scaling, limits = Scaling(trace), board(entries, blocks, heap_bytes)

    def first(choosing: bool) -> int | None:
        generator = ((n, plain(trace, n, 1)) for n in range(1, len(by_block(trace)) * 2))
        fits = (
            n
            for n, blocks in generator
            if blocks and not plain_room(blocks, 1).beyond(limits, choosing=choosing)
        )
        return next(fits, None)

    assert scaling.smallest(limits) == (first(True) or first(False))


def test_a_sample_has_the_shape_of_the_whole() -> None:
    """jq's trace: each class of sizes and each of lifetimes keeps its share, to within a block."""
    trace = scenarios_trace.read(TRACES / "jq.csv")
    whole = by_block(trace)
    part = by_block(Scaling(trace).scaled(17))

    def sizes(blocks: list[list[tuple[int, int, int, int]]]) -> Counter[int]:
        return Counter(max(size for _, _, size, _ in block).bit_length() for block in blocks)

    for length, count in sizes(whole).items():
        assert abs(sizes(part)[length] - count / 17) <= 1
    freed = [sum(block[-1][1] == FREE for block in blocks) / len(blocks) for blocks in (whole, part)]
    assert freed[0] == pytest.approx(freed[1], abs=0.01)


def test_what_does_not_fit_is_named() -> None:
    room = Room(30_000, 3_000, 70_000, 90_000)
    assert room.beyond(BOARD) == [
        "30,000 operations where 21,840 fit",
        "3,000 blocks live at once where 2,048 fit",
        "70,000 bytes live at once where 65,536 fit",
    ]
    assert BOARD.gross_bytes == 49_152


# The scenario `recorded`: what becomes of a trace, and what is said where it does not fit.


SHIPPED = [name for name in catalogue.names() if name.startswith("recorded")]
FOLDER = Path(__file__).resolve().parents[1]


def own_file(folder: Path, lines: str) -> str:
    path = folder / "own.csv"
    path.write_text(lines, encoding="utf-8")
    return str(path)


def plan_of(*words: str, **parameters: str | int) -> list[object]:
    plan = catalogue.load("recorded", {"trace": words[0], **parameters}, stimulus="none").compile()
    return list(decode(plan.image).operations)


def test_a_reallocation_is_an_allocation_and_then_a_free(tmp_path: Path) -> None:
    file = own_file(tmp_path, "a,x,24\na,y,8,64\nr,x,100\nf,y\nr,x,7\na,z,5\n")
    assert plan_of(file) == [
        *(Allocate(0, 24), Allocate(1, 8, align_log2=6)),
        *(Allocate(2, 100), Free(0)),
        Free(1),
        *(Allocate(1, 7), Free(2)),
        Allocate(2, 5),
    ]


def test_sizes_are_divided_and_rounded_up(tmp_path: Path) -> None:
    file = own_file(tmp_path, "a,1,1\na,2,8\na,3,9\n")
    assert plan_of(file, divide=8) == [Allocate(0, 1), Allocate(1, 1), Allocate(2, 2)]


def test_what_does_not_fit_the_board_is_told(tmp_path: Path, sentences: Sentences) -> None:
    for lines in ("a,1,70000\nf,1\n", "".join(f"a,{n},24\n" for n in range(2049)), "a,1,8\nf,1\n" * 10_921):
        scenario = catalogue.load("recorded", {"trace": own_file(tmp_path, lines)})
        with pytest.raises(ScenarioError) as refused:
            scenario.compile()
        sentences.hold(refused.value)


def test_a_file_is_sought_beside_its_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_file(tmp_path, "a,1,24\n")
    text = (FOLDER / "recorded.toml").read_text(encoding="utf-8").replace("traces/dash.csv", "own.csv")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    scenario = catalogue.load(str(tmp_path / "mine.toml"))
    assert scenario.compile().operations.height == 1
    monkeypatch.chdir(tmp_path)
    assert catalogue.load("mine.toml").parameters["trace"] == "own.csv"


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_small_and_scaled_as_little_as_fits(name: str) -> None:
    scenario = catalogue.load(name)
    path = Path(str(scenario.parameters["trace"]))
    assert path.stat().st_size < 200_000
    assert catalogue.load(name, {"scale": 0}).compile().parameters == scenario.compile().parameters
