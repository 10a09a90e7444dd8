"""The whole text of explanations that are written by hand."""

from __future__ import annotations

from typing import Any

from analysis.explain.tests.made import maximum, replayed, unreplayed
from analysis.explain.text import as_text
from base.anatomy import Anatomy
from base.run_folder.explanation import Frame, HeapMap, Operation, Part, Piece, Total
from base.tests.test_anatomy import MADE_OF
from tests.sentences import Sentences


def operation(seq: int, words: str, label: str | None = None) -> Operation:
    return Operation(seq=seq, kind="A", words=words, label=label, start_sample=None, end_sample=None)


def part(what: Any, words: str, cycles: int, place: str = "", source: str = "") -> Part:
    return Part(what=what, words=words, begin_cycle=0, cycles=cycles, place=place, source=source)


def total(name: str, executions: int, cycles: int, source: str = "") -> Total:
    return Total(name=name, executions=executions, cycles=cycles, source=source)


def piece(bytes_: int, what: Any) -> Piece:
    return Piece(offset=0, bytes=bytes_, what=what)


TOLD: dict[str, Any] = {
    "maximum": maximum(probes=1_234, live=2_000),
    "start_ns": 120_000.0,
    "begins": "CRIT rising",
    "ends": "CRIT falling",
    "place": "It began 0.48 µs after operation 7,000 began.",
    "operation": operation(7_000, "allocation of 100 bytes", "depth 3"),
    "previous": operation(6_999, "free of 8 bytes"),
    "next": operation(7_001, "free of 16 bytes"),
}


def test_the_text_tells_all_that_was_replayed(sentences: Sentences) -> None:
    replay = replayed(
        **TOLD,
        cycles=4_200,
        instructions=2_000,
        parts=[
            # A handler is one row wherever it was entered from; a mask is one for each place.
            part("exception", "handler TIM2_IRQHandler", 1_000, "on_tim2", "main.c:40"),
            part("masked", "interrupts masked by BASEPRI 0x50", 2_000, "lock+0x2", "main.c:10"),
            part("running", "nothing held it off", 420),
            part("exception", "handler TIM2_IRQHandler", 260, "on_tim2+0x2", "main.c:41"),
            part("masked", "interrupts masked by BASEPRI 0x50", 520, "lock+0x2", "main.c:10"),
        ],
        functions=[total("find", 1_900, 4_000), total("lock", 100, 200)],
        dearest=[total("find+0x4: ldr r0, [r1]", 1_000, 3_000, "free_list.h:43"), total("lock: nop", 10, 20)],
        lines=[total("find", 1_000, 3_000, "free_list.h:43"), total("lock", 100, 200, "main.c:10")],
        sources={"free_list.h:43": "while (block) {"},
        stack=[
            Frame(address=0x0800_0304, place="find+0x4", source="free_list.h:43"),
            Frame(address=0x0800_0200, place="main", source="main.c:30"),
        ],
        heap=HeapMap(
            region_bytes=1_160,
            pieces=[piece(72, "live"), piece(88, "free"), piece(1_000, "live")],
            note="Read by hand.",
        ),
    )
    sentences.hold(as_text(replay))


def test_of_functions_instructions_and_lines_eight_are_shown() -> None:
    many = [total(f"name {number}", 1, 1, f"main.c:{number}") for number in range(10)]
    lines = as_text(replayed(**TOLD, functions=many, dearest=many, lines=many)).splitlines()
    for title in ("cycles by function", "most expensive instructions", "most expensive source lines"):
        begin = lines.index(title)
        assert lines[begin + 9] == "" and lines[begin + 8].count("main.c:7") == 1


def test_what_is_not_known_is_left_out(sentences: Sentences) -> None:
    for more in (
        {},
        {"verdict": "truncated", "quantity": "task", "operation": None, "previous": None},
        # A label that the words have is not said twice; no probes and no blocks are left out.
        {
            "maximum": maximum(probes=0),
            "operation": operation(7, "call of stop", "stop"),
            "previous": None,
            "next": None,
        },
    ):
        sentences.hold(as_text(unreplayed(**{**TOLD, **more})))


def test_what_it_is_made_of_stands_on_top_and_the_search_at_the_end() -> None:
    made_of = Anatomy.model_validate(MADE_OF)
    replay = replayed(heap=HeapMap(region_bytes=64, pieces=[piece(64, "free")], note="read"))
    lines = as_text(replay, made_of).splitlines()
    assert lines[1] == MADE_OF["sentence"]
    assert lines[-1] == "  The search visited 1 block: 0x20000008."
    more = as_text(replay.model_copy(update={"maximum": maximum(probes=3)}), made_of).splitlines()
    assert more == [*lines, "  Its 3 probes count looks at blocks or at the index."]
    search = MADE_OF["search"] | {"blocks": False, "served": {"offset": 32, "bytes": 16}, "visited": []}
    lines = as_text(replay, Anatomy.model_validate(MADE_OF | {"search": search})).splitlines()
    assert lines[-2:] == ["  read", "  It served 16 bytes as a block at 0x20000020."]
