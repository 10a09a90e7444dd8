"""Latencies and sections of a small program whose cycles are counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.explain.kernels.tests import made
from analysis.program.latency import measure
from analysis.program.latency.measure import LatencyReport, latencies, section_times
from analysis.program.latency.sections import Section
from analysis.program.latency.sections import measure as paired
from analysis.program.latency.text import as_text
from analysis.program.parts import as_json
from analysis.program.subject import START, Subject
from base.files.errors import TailscopeError
from simulator.interrupts import exception_of
from simulator.latency import Question
from simulator.masks import Passage
from simulator.program import UserProgram
from simulator.tests import bare_metal
from tests.tables import table

UNTIL = "cycles:3000"
# Behind CPSID: a load of 2 cycles, 100 NOPs, a load of 2, CPSIE; then the entry. A pend in the
# first of these cycles waits for all of them (TRM, tables 3-1 and 3.9.1; no waits at 16 MHz).
MASKED, ENTRY = 2 + 100 + 2 - 1 + 1, 12


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> UserProgram:
    """The program of fixtures/latency.c."""
    return UserProgram(bare_metal.build_source(tmp_path_factory.mktemp("latency"), "latency.c"))


def report_of(
    program: UserProgram,
    *sections: str,
    irq: str = "",
    around: str = "",
    start: str = START,
    every: int | None = None,
    enable: int | None = None,
    random: int = 0,
    seed: int = 1,
) -> LatencyReport:
    subject = Subject.of(program, UNTIL, start=start)
    asked = {"every": every, "enable": enable, "random": random, "seed": seed}
    question = Question(exception_of(irq, ""), UNTIL, **asked) if irq else None  # type: ignore[arg-type]
    waits = latencies(subject, question, around, lambda _: None) if question else None
    passes = section_times(subject, sections, lambda _: None) if sections else []
    return LatencyReport.of(subject, waits, passes)


def _latency(
    program: UserProgram,
    around: str = "",
    start: str = START,
    enable: int | None = None,
    random: int = 0,
    seed: int = 1,
) -> dict[str, Any]:
    report = report_of(
        program, irq="TIM2", around=around, start=start, enable=enable, random=random, seed=seed
    )
    assert report.complete
    latency: dict[str, Any] = as_json(report)["latency"]
    return latency


def test_the_worst_of_a_masked_section_is_explained(program: UserProgram) -> None:
    document = as_json(report_of(program, irq="TIM2"))["latency"]
    assert document["every"] == 1
    assert document["pends"] == document["taken"] == document["end_cycle"] - document["first_cycle"]
    worst = next(row for row in document["worst"] if row["waits"][0]["cause"] == "PRIMASK")
    assert worst["cycles"] == MASKED + ENTRY
    assert worst["ns"] == pytest.approx((MASKED + ENTRY) * 62.5)
    assert [(wait["cause"], wait["cycles"]) for wait in worst["waits"]] == [
        ("PRIMASK", MASKED),
        ("entry alone", ENTRY),
    ]
    assert worst["waits"][0]["raised"]["function"] == "masked"
    assert worst["waits"][0]["raised"]["file"] == "latency.c"
    assert [place["function"] for place in worst["stack"]][:2] == ["masked", "test"]
    first = document["worst"][0]
    assert "on_exti0" in first["waits"][1]["cause"]


def test_the_calls_of_one_function_are_swept(program: UserProgram) -> None:
    latency = _latency(program, around="masked")
    assert latency["pends"] == pytest.approx(109 + 128, abs=2)
    assert latency["cycles"]["max"] == MASKED + ENTRY


def test_random_pends_are_some_of_the_sweep(program: UserProgram) -> None:
    drawn = [_latency(program, random=100, seed=5) for _ in range(2)]
    assert drawn[0] == drawn[1] != _latency(program, random=100, seed=6)
    assert (drawn[0]["pends"], drawn[0]["seed"]) == (100, 5)
    assert _latency(program, random=3000)["every"] == 2
    assert drawn[0]["cycles"]["max"] <= _latency(program)["cycles"]["max"]


def test_the_board_can_enable_an_interrupt(program: UserProgram) -> None:
    latency = _latency(program, start="cycles:100", enable=3)
    assert latency["enabled_by"] == "board"
    assert latency["first_cycle"] == 100


def test_sections_are_what_the_program_counts(program: UserProgram) -> None:
    document = as_json(report_of(program, "first_read..second_read", "recursive..", "masked.."))["sections"]
    reads, recursive, masked = document
    assert {reads["cycles"]["min"], reads["cycles"]["max"]} == {101}
    assert reads["count"] == 4
    assert masked["count"] == 4
    # CPSID and the load before the section, and the subtraction and the return behind it.
    assert masked["cycles"]["max"] == MASKED + 2 + 1 + 1 - 1 + 2
    # Three deep and two deep: from outside in, each call holds the next. The handler runs between.
    assert recursive["longest"]["cycles"] > 3 * recursive["cycles"]["min"]


@table
def test_what_cannot_be_measured_is_told_in_a_sentence(
    program: UserProgram, sections: tuple[str, ...], words: dict[str, Any], sentence: str, enable: int | None
) -> None:
    with pytest.raises(TailscopeError, match=sentence) as refusal:
        report_of(program, *sections, **words, enable=enable)
    assert "\n" not in str(refusal.value)


def test_the_reference_names_each_field(program: UserProgram) -> None:
    page = measure.__doc__ or ""
    document = as_json(report_of(program, "masked..", irq="TIM2"))
    of_waits, (of_passes,) = document["latency"], document["sections"]
    rows = (document, of_waits, of_waits["worst"][0], of_passes, of_passes["longest"])
    assert {field for row in rows for field in row if field not in page} == set()


def test_start_up_is_left_out(tmp_path: Path) -> None:
    """Interrupt 28 is enabled before 1,000 NOPs of start-up; later 100 hold it at most."""
    program = UserProgram(made.build(tmp_path, "riot", "-g", "-DEARLY"))
    report = report_of(program, irq="TIM2", every=1)
    latency = report.latency
    assert latency and report.start.cycle
    assert report.subject.heading["kernel"] == "RIOT" and report.start.settings == "start of RIOT"
    assert latency.first_cycle == report.start.cycle > 1000
    masked, place = next(
        (row, held.raised)
        for row in latency.worst
        for held in row.waits
        if held.raised and held.raised.function == "update_table"
    )
    assert 100 < masked.cycles < 150
    assert masked.task in ("motor", "lamp") and place.lock == "irq_disable"
    text = as_text(report)
    assert "Start-up, until RIOT started its scheduler (cpu_switch_context_exit()), is left out" in text
    assert f"in task {masked.task}" in text and "set at irq_disable in update_table (" in text
    whole = report_of(program, irq="TIM2", every=1, start="reset").latency
    assert whole and whole.first_cycle == latency.first_use_cycle and whole.first_cycle < 1000
    early = whole.worst[0]
    assert 1000 < early.cycles < 1100 and early.main.raised and early.main.raised.function == "reset"


# Which passages belong together: by hand.


A, B, CALLED, RETURN, TAIL = 0x100, 0x200, 0x300, 0x340, 0x330
PLACES = {"A": A, "B": B, "E": CALLED, "R": RETURN, "T": TAIL}
TOP = 0x2000_1000
SECTIONS = {
    "between": Section("a..b", frozenset((A,)), {B: True}),
    "itself": Section("a..a", frozenset((A,)), {A: True}),
    "call": Section("f..", frozenset((CALLED,)), {RETURN: True, TAIL: False}, range(CALLED, CALLED + 0x48)),
}


def passage(text: str) -> Passage:
    """`A10` is A at cycle 10; then the bytes on the stack, the exception, the task. `R40 16 0x500`
    leaves: the stack below its top behind it, and where the program goes on.
    """
    place, *words = text.split()
    address, cycle = PLACES[place[0]], int(place[1:])
    depth, *others = [int(word, 0) for word in words] or [0]
    if place[0] in "RT":
        return Passage(address, cycle, cycle + 5, 0, TOP - depth - 8, TOP - depth, others[0], None)
    exception, task = ([*others, 0])[0], others[1] if others[1:] else None
    return Passage(address, cycle, cycle + 2, exception, TOP - depth, TOP - depth, address + 2, task)


@table
def test_an_end_belongs_to_its_beginning(section: str, passages: str, spans: str) -> None:
    rows = [passage(text) for text in passages.split(", ")]
    passed, unpaired = paired(SECTIONS[section], rows)
    words = [f"{row.begin}-{row.end}" for row in passed] + ["unpaired"] * unpaired
    assert " ".join(words) == spans
