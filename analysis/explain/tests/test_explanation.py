"""Explanations of real runs, against what is known of these runs from elsewhere."""

from __future__ import annotations

import csv
import json
import os
import shutil
import struct
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis.errors import ExplainError
from analysis.explain import explanation, text
from analysis.explain.explanation import block_layer_map, live_map
from analysis.explain.program import Program
from analysis.explain.sources import Sources
from analysis.fragmentation.of_run import memory_of_run
from base.run_folder.edges import EdgeList, read_parquet
from base.run_folder.explanation import (
    Anatomy,
    HeapMap,
    Replayed,
    Unreplayed,
    read,
    read_all,
    read_anatomy,
)
from base.run_folder.named_quantities import NAMED
from capture import conduct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import RunResult
from firmware.build import image as firmware
from scenarios import catalogue
from simulator.outputs import State
from tests.run_folders import edit_manifest, seal

HEADER_BYTES = 16
DEPTH = 256


def measure(folder: Path, allocator: str, samplerate_hz: int | None = None, **parameters: int) -> RunResult:
    plan = catalogue.load("mem_frag", parameters).compile()
    image = firmware.build(allocator)
    request = RunRequest(plan, image, samplerate_hz=samplerate_hz, runs=folder, memory=memory_of_run)
    return conduct.run(Sigrok(request))


@pytest.fixture(scope="module")
def deepest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mem_frag on the segregated list. Its worst allocation is one of the deepest, but not always
    the deepest: a control interrupt costs as much as the walk of a few blocks.
    """
    return measure(tmp_path_factory.mktemp("runs"), "seglist", depth=DEPTH).folder


@pytest.fixture(scope="module")
def every(deepest: Path) -> dict[str, Replayed]:
    explanations = explanation.explain(deepest)
    return {each.quantity: each for each in explanations if isinstance(each, Replayed)}


@pytest.fixture(scope="module")
def explained(every: dict[str, Replayed]) -> Replayed:
    return every["allocate"]


def instructions(folder: Path, quantity: str) -> list[dict[str, str]]:
    with (folder / "explain" / f"{quantity}-instructions.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_executed_instructions_fill_the_pulse(deepest: Path, explained: Replayed) -> None:
    edges = read_parquet(deepest / "edges.parquet")
    pulse_samples = explained.end_sample - explained.start_sample
    # At 84 MS/s a sample is a cycle.
    assert edges.samplerate_hz == 84_000_000
    rows = instructions(deepest, "allocate")
    assert sum(int(row["cycles"]) for row in rows) == pulse_samples == explained.cycles
    assert sum(total.cycles for total in explained.functions) == pulse_samples
    assert round(explained.value_ns * 84e6 / 1e9) == pulse_samples


def test_the_heap_map_is_what_the_scenario_left(explained: Replayed) -> None:
    """256 pairs of 72 and 8 bytes, all with headers. The first victims are free; so is the rest."""
    pieces, depth = explained.heap.pieces, explained.maximum.depth or 0
    spacer = (8 + HEADER_BYTES, "live")
    freed = [(72 + HEADER_BYTES, "free"), spacer] * depth
    pairs = freed + [(72 + HEADER_BYTES, "live"), spacer] * (DEPTH - depth)
    rest = 65_536 - sum(size for size, _ in pairs)
    assert [(piece.bytes, piece.what) for piece in pieces] == [*pairs, (rest, "free")]
    ends = np.cumsum([piece.bytes for piece in pieces]).tolist()
    assert [piece.offset for piece in pieces] == [0, *ends[:-1]]


def test_the_stored_waveform_is_the_capture(deepest: Path, explained: Replayed) -> None:
    crit = read_parquet(deepest / "edges.parquet").transitions("CRIT")
    first, last = explained.window.first_sample, explained.window.end_sample
    changes = [(sample, bool(word & 1)) for sample, word in explained.window.edges]
    rows = [row for before, row in pairwise(changes) if row[1] != before[1]]
    inside = (crit.sample > first) & (crit.sample < last)
    assert rows == list(zip(crit.sample[inside].tolist(), crit.level[inside].tolist(), strict=True))
    assert {explained.start_sample, explained.end_sample} <= {sample for sample, _ in rows}


@pytest.fixture
def copy(deepest: Path, tmp_path: Path) -> Path:
    return shutil.copytree(deepest, tmp_path / "run", ignore=shutil.ignore_patterns("explain"))


def test_a_replay_that_differs_is_refused(copy: Path, explained: Replayed) -> None:
    edges = read_parquet(copy / "edges.parquet")
    # The first edge behind the pulse, one sample later.
    sample = edges.sample.copy()
    at = int(np.searchsorted(sample, explained.end_sample, side="right"))
    sample[at] += 1
    assert sample[at] < explained.window.end_sample
    EdgeList(sample, edges.word, edges.samplerate_hz, edges.total_samples).write_parquet(
        copy / "edges.parquet"
    )
    seal(copy)
    with pytest.raises(ExplainError, match=f"differs from the capture at sample {sample[at] - 1:,}"):
        explanation.explain(copy, "section")
    assert not (copy / "explain").exists()


def test_a_board_on_the_desk_keeps_its_waveform_and_says_what_is_not_known(copy: Path) -> None:
    tools = json.loads((copy / "run.json").read_text())["tools"]
    edit_manifest(copy, tools={name: version for name, version in tools.items() if name != "virtual_nucleo"})
    (unreplayed,) = explanation.explain(copy, "section")
    assert isinstance(unreplayed, Unreplayed)
    assert read(copy / "explain" / "section.json") == unreplayed
    assert sorted(path.name for path in (copy / "explain").iterdir()) == ["section.json"]
    assert "not known" in text.as_text(unreplayed)


@pytest.mark.long
def test_samples_that_are_not_cycles(tmp_path: Path) -> None:
    """At 24 MS/s replay and capture agree to the sample. The allocator has no block layer of ours,
    but its live blocks are known all the same.
    """
    folder = measure(tmp_path, "o1heap", 24_000_000, depth=16).folder
    (result,) = explanation.explain(folder, "allocate")
    assert isinstance(result, Replayed)
    live = [piece.bytes for piece in result.heap.pieces if piece.what == "live"]
    # The worst allocation makes one more live block than there were before it.
    assert len(live) + 1 == result.maximum.live
    # With a header and rounded up to a power of two.
    assert set(live) <= {128, 64, 32}
    assert sum(piece.bytes for piece in result.heap.pieces) == 65_536
    edge_cycles = 84 / 24
    assert abs(result.cycles - result.value_ns * 84e6 / 1e9) <= edge_cycles


def test_one_replay_tells_what_each_alone_tells(
    deepest: Path, every: dict[str, Replayed], copy: Path
) -> None:
    assert list(every) == ["section", "allocate", "free", "interrupt", "task"]
    assert read_all(deepest) == every
    assert explanation.explain(copy, "task") == [every["task"]]
    assert list(read_all(copy)) == ["task"]


def test_a_handler_is_told_while_its_code_runs(deepest: Path, every: dict[str, Replayed]) -> None:
    """Each executed instruction of the handler lies in a part of that name, and no other does."""
    for quantity in ("interrupt", "task"):
        result = every[quantity]
        for row in instructions(deepest, quantity):
            cycle, function = int(row["cycle"]), row["place"].split("+")[0]
            part = next(
                part for part in result.parts if part.begin_cycle <= cycle < part.begin_cycle + part.cycles
            )
            if function.endswith("_IRQHandler"):
                assert (part.what, part.words) == ("exception", f"handler {function}")
            if function.startswith("heap_index_"):
                assert part.what == "masked"


def test_a_source_file_that_is_younger_than_the_firmware_is_not_quoted(tmp_path: Path) -> None:
    elf = Path(shutil.copy2(firmware.build("seglist").elf, tmp_path / "tailscope.elf"))
    source = tmp_path / "heap" / "free_list.h"
    source.parent.mkdir()
    source.write_text("first\n  second\n")
    command = f"gcc -ffile-prefix-map={tmp_path}=firmware"
    (tmp_path / "compile_commands.json").write_text(json.dumps([{"command": command}]))
    program = Program(elf)
    built_s = elf.stat().st_mtime
    os.utime(source, (built_s - 1, built_s - 1))
    places = ["free_list.h:2", "free_list.h:3", "nowhere.c:1", ""]
    assert Sources(program, elf).lines(places) == {"free_list.h:2": "second"}
    os.utime(source, (built_s + 1, built_s + 1))
    assert Sources(program, elf).lines(places) == {}


@pytest.fixture(scope="module")
def made_of(deepest: Path, every: dict[str, Replayed]) -> dict[str, Anatomy]:
    assert set(every) >= {"allocate", "interrupt", "task"}
    return {name: made for name in NAMED if (made := read_anatomy(deepest, name))}


def test_the_loop_is_passed_once_for_each_free_block(
    explained: Replayed, made_of: dict[str, Anatomy]
) -> None:
    result = made_of["allocate"]
    assert result.loop is not None and result.loop.source.startswith("free_list.h:")
    assert result.loop.passes == explained.maximum.depth
    whole = f"{result.loop.passes:,} × the loop at {result.loop.source} took most: "
    assert result.sentence.startswith(whole)
    assert result.sentence.endswith(f" {result.loop.cycles:,} of {explained.cycles:,} cycles.")
    # Of the walk by source line: what the loop's lines took, but for the first look before it.
    walked = sum(line.cycles for line in explained.lines if line.source.startswith("free_list.h:"))
    assert result.loop.cycles == pytest.approx(walked, abs=60)


def test_the_parts_fill_the_time_and_the_loop_runs_within_it(
    every: dict[str, Replayed], made_of: dict[str, Anatomy]
) -> None:
    for name, result in made_of.items():
        parts = every[name].parts
        ends = np.cumsum([part.cycles for part in parts]).tolist()
        assert [part.begin_cycle - parts[0].begin_cycle for part in parts] == [0, *ends[:-1]]
        assert ends[-1] == result.cycles == every[name].cycles
        if result.loop:
            assert sum(cycles for _, cycles in result.loop.stretches) == result.loop.cycles
            assert all(begin >= 0 and begin + cycles <= ends[-1] for begin, cycles in result.loop.stretches)


def test_calls_that_the_trace_shows_are_those_that_memory_shows(
    every: dict[str, Replayed], made_of: dict[str, Anatomy]
) -> None:
    """The stack at an instant is unwound from memory; the calls are told by branches."""
    for name, result in made_of.items():
        explanation_ = every[name]
        at = explanation_.moment.cycle - explanation_.parts[0].begin_cycle
        under_way = [call for call in result.calls if call.begin_cycle <= at < call.begin_cycle + call.cycles]
        under_way.sort(key=lambda call: -call.depth)
        # A function that ends in the cycle its callee ends in left by a jump: its frame is gone.
        ends = [call.begin_cycle + call.cycles for call in under_way]
        innermost = [
            call.name
            for call, end, inner in zip(under_way, ends, [None, *ends], strict=False)
            if end != inner
        ]
        stack = [frame.place.partition("+")[0] for frame in explanation_.stack]
        assert innermost == stack[: len(innermost)] and innermost
        by_name = {total.name: total.cycles for total in explanation_.functions}
        own = {call.name: 0 for call in result.calls}
        for call in result.calls:
            own[call.name] += call.own_cycles
        assert own == {name: cycles for name, cycles in by_name.items() if name != "(exception)"}


def test_the_search_visits_the_class_from_the_block_that_was_freed_last(
    explained: Replayed, made_of: dict[str, Anatomy]
) -> None:
    """The scenario frees upwards, and the list is last in, first out."""
    search, pieces = made_of["allocate"].search, explained.heap.pieces
    assert search is not None and search.blocks and search.asked_bytes == explained.maximum.size
    freed = [piece.offset for piece in pieces if (piece.bytes, piece.what) == (72 + HEADER_BYTES, "free")]
    assert [block.offset for block in search.visited] == freed[::-1]
    region = Program(firmware.build("seglist").elf).variable("heap_region")
    assert search.region_address == region
    assert text.as_text(explained, made_of["allocate"]).splitlines()[1] == made_of["allocate"].sentence


BASE = 0x2000_0100
MAGIC, IS_FREE, IS_LIVE = 0x4B4C4254, 0x45455246, 0x4556494C
WHOLE = "Read from the blocks' headers; a block's bytes include its header."
Piece = tuple[int, int, str]


def state(words: dict[int, int], region_bytes: int) -> State:
    region = bytearray(b"\xa5" * region_bytes)
    for offset, word in words.items():
        struct.pack_into("<I", region, offset, word)
    return State(0, Fraction(0), Fraction(1), 0, {}, [], BASE, bytes(region))


def pieces(heap_map: HeapMap, region_bytes: int = 128) -> list[Piece]:
    """Offset, bytes and kind of each piece."""
    assert heap_map.region_bytes == region_bytes
    return [(piece.offset, piece.bytes, piece.what) for piece in heap_map.pieces]


def blocks(words: dict[int, int]) -> HeapMap:
    program: Any = SimpleNamespace(variable={"heap_region": BASE}.get)
    return block_layer_map(program, state(words, 128), 128)


def header(offset: int, payload: int, status: int, previous: int, magic: int = MAGIC) -> dict[int, int]:
    """The four words of a header of 16 bytes."""
    return dict(zip(range(offset, offset + 16, 4), (magic, payload, status, previous), strict=True))


FIRST = header(0, 24, IS_LIVE, 0)


def test_headers_of_sixteen_bytes() -> None:
    """40 bytes, 24 of them its own; 32; and the other 56."""
    heap_map = blocks({**FIRST, **header(40, 16, IS_FREE, BASE), **header(72, 40, IS_LIVE, BASE + 40)})
    assert pieces(heap_map) == [(0, 40, "live"), (40, 32, "free"), (72, 56, "live")]
    assert heap_map.note == WHOLE


@pytest.mark.parametrize(
    "damaged",
    [
        header(40, 16, IS_FREE, BASE, MAGIC + 1),
        header(40, 16, MAGIC, BASE),
        header(40, 16, IS_FREE, 0),
        header(40, 80, IS_FREE, BASE),
    ],
)
def test_a_damaged_header_ends_the_map(damaged: dict[int, int]) -> None:
    heap_map = blocks({**FIRST, **damaged})
    assert pieces(heap_map) == [(0, 40, "live"), (40, 88, "unknown")]
    assert heap_map.note == "Read from the blocks' headers, as far as 40 bytes; what follows is no block."


def test_live_blocks_lie_where_the_replayed_operations_leave_them() -> None:
    """The second block is freed, and a request is refused."""
    operations = pl.DataFrame(
        {
            "kind": ["A", "A", "A", "F", "O"],
            "block_begin": [8, 48, 24, 48, None],
            "block_end": [24, 64, 40, 64, None],
        }
    )
    assert pieces(live_map(operations, 96), 96) == [
        *((0, 8, "unknown"), (8, 16, "live"), (24, 16, "live"), (40, 56, "unknown")),
    ]
    assert pieces(live_map(operations.clear(), 96), 96) == [(0, 96, "unknown")]
