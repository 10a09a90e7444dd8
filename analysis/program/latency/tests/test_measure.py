"""Latencies and sections of a small program whose cycles are counted by hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LatencyError
from analysis.explain.kernels.tests import made
from analysis.program.latency.measure import latencies, reasons
from analysis.program.latency.tests.test_document import ROWS, subject
from analysis.program.latency.text import as_text
from base.files.errors import TailscopeError
from cli import latency as room
from simulator import latency as simulator
from simulator.latency import Answers, Question
from simulator.program import UserProgram
from simulator.tests import bare_metal
from tests import lab

UNTIL = "cycles:3000"
# Behind CPSID: a load of 2 cycles, 100 NOPs, a load of 2, CPSIE; then the entry. A pend in the
# first of these cycles waits for all of them (TRM, tables 3-1 and 3.9.1; no waits at 16 MHz).
MASKED, ENTRY = 2 + 100 + 2 - 1 + 1, 12


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> UserProgram:
    """The program of fixtures/latency.c."""
    return UserProgram(bare_metal.build_source(tmp_path_factory.mktemp("latency"), "latency.c"))


def _asked(program: UserProgram, *sections: str, **words: Any) -> room.Report:
    """With `explain` anything but empty, the instructions of the worst too."""
    around, explain = words.pop("around", ""), words.pop("explain", "")
    start = words.pop("start", None)
    irq = words.pop("irq", None)
    question = room.question(room.Pending(**words), irq=irq, until=UNTIL) if irq else None
    return room.run(
        program, question, sections, until=UNTIL, around=around, explain=bool(explain), start=start
    )


def _latency(program: UserProgram, **words: Any) -> dict[str, Any]:
    report = _asked(program, **{"irq": "TIM2", **words})
    assert report.complete
    latency: dict[str, Any] = report.document["latency"]
    return latency


def test_the_worst_of_a_masked_section_is_explained(program: UserProgram) -> None:
    document = _asked(program, irq="TIM2", explain="yes").document["latency"]
    assert document["window"]["every"] == 1
    assert (
        document["pends"]
        == document["taken"]
        == document["window"]["end_cycle"] - document["window"]["first_cycle"]
    )
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
    entry = first["waits"][-1]["cycles"]
    assert sum(total["cycles"] for total in first["functions"]) == first["cycles"] - entry


def test_the_calls_of_one_function_are_swept(program: UserProgram) -> None:
    latency = _latency(program, around="masked")
    assert latency["pends"] == pytest.approx(109 + 128, abs=2)
    assert latency["cycles"]["max"] == MASKED + ENTRY


def test_random_pends_are_some_of_the_sweep(program: UserProgram) -> None:
    drawn = [_latency(program, mode="random", pends=100, seed=5) for _ in range(2)]
    assert json.dumps(drawn[0]) == json.dumps(drawn[1])
    assert drawn[0] != _latency(program, mode="random", pends=100, seed=6)
    assert drawn[0]["pends"] == 100
    assert drawn[0]["cycles"]["max"] <= _latency(program)["cycles"]["max"]


def test_the_board_can_enable_an_interrupt(program: UserProgram) -> None:
    latency = _latency(program, enable=3, start="cycles:100")
    assert latency["enabled_by"] == "board"
    assert latency["window"]["first_cycle"] == 100


def test_sections_are_what_the_program_counts(program: UserProgram) -> None:
    document = _asked(program, "first_read..second_read", "recursive..", "masked..").document["sections"]
    reads, recursive, masked = document
    assert {reads["cycles"]["min"], reads["cycles"]["max"]} == {101}
    assert reads["count"] == 4
    assert masked["count"] == 4
    # CPSID and the load before the section, and the subtraction and the return behind it.
    assert masked["cycles"]["max"] == MASKED + 2 + 1 + 1 - 1 + 2
    # Three deep and two deep: from outside in, each call holds the next. The handler runs between.
    assert recursive["nested"] == 4 or recursive["nested"] == 3
    assert recursive["worst"][0]["cycles"] > 3 * recursive["cycles"]["min"]


def test_a_line_is_a_place(program: UserProgram) -> None:
    source = (bare_metal.FIXTURES / "latency.c").read_text(encoding="utf-8").splitlines()
    line = next(n for n, words in enumerate(source, 1) if "= recursive(2);" in words)
    (section,) = _asked(program, f"latency.c:{line}..recursive").document["sections"]
    assert section["count"] == 1
    assert section["worst"][0]["begin"]["line"] == line
    assert section["worst"][0]["end"]["function"] == "recursive"


@pytest.mark.parametrize(
    ("sections", "words", "sentence"),
    [
        ((), {"irq": "TIM3"}, r"never enables TIM3 \(NVIC_ISER0, bit 29\).*EXTI0, TIM2.*--enable"),
        ((), {"irq": "TIM3", "enable": "2"}, r"no handler for TIM3: its vector holds 0x00000000"),
        ((), {"irq": "TIM2", "around": "maskd"}, r"no function maskd: did you mean masked"),
        ((), {"irq": "TIM2", "around": "never"}, r"never is never called to its end"),
        ((), {"irq": "TIM2", "start": "cycles:3000"}, r"No cycle is left to pend TIM2 at"),
        (("never..",), {}, r"beginning of never\.\. is never executed in the first 3,000 cycles"),
        (("masked..never",), {}, r"masked\.\.never began 4 times and never ended"),
        (("latency.c:9999..masked",), {}, r"no code of latency\.c:9999; the next with code is"),
        (("latencies.c:20..masked",), {}, r"file latencies\.c: did you mean latency\.c"),
        (("masked",), {}, r"write two places with \.\. between them"),
        (("masked+2..never",), {}, r"write masked\+0x and hexadecimal digits"),
        ((), {}, r"Nothing to measure"),
    ],
)
def test_what_cannot_be_measured_is_told_in_a_sentence(
    program: UserProgram, sections: tuple[str, ...], words: dict[str, str], sentence: str
) -> None:
    with pytest.raises(TailscopeError, match=sentence) as refusal:
        _asked(program, *sections, **words)
    assert "\n" not in str(refusal.value)


ANSWERED: dict[str, Any] = {
    "first_use_cycle": 90,
    "used": (45,),
    "handler": 0x0800_0501,
    "sharing": 0,
    "first_cycle": 90,
    "end_cycle": 95,
    "every": 1,
    "rows": ROWS.clear(),
    "ended": "It stopped.",
}


@pytest.mark.parametrize(
    ("question", "told", "sentence"),
    [
        (
            Question(45, "62us"),
            {"first_use_cycle": None, "used": (13, 14, 15, 44)},
            "The program never enables TIM3 (NVIC_ISER0, bit 29) in the first 62us (it enables or takes "
            "PendSV, SysTick, TIM2): name one of those, give it longer with --until, or let the board enable "
            "it with --enable PRIORITY, 0 to 15.",
        ),
        (
            Question(16 + 35, 3000),
            {"first_use_cycle": None, "used": ()},
            "The program never enables SPI1 (NVIC_ISER1, bit 3) in the first 3,000 cycles (it enables no "
            "interrupt): name one of those, give it longer with --until, or let the board enable it with "
            "--enable PRIORITY, 0 to 15.",
        ),
        (
            Question(15, "cycles:3000"),
            {"first_use_cycle": None},
            "The program never takes SysTick in the first 3,000 cycles: give it longer with --until, or name "
            "another place.",
        ),
        *(
            (
                Question(45, "62us", enable=1),
                {"first_use_cycle": None, "handler": vector},
                f"The program has no handler for TIM3: its vector holds {words}; define TIM3_IRQHandler.",
            )
            for vector, words in (
                *((None, "nothing"), (0xFFFF_FFFF, "0xffffffff"), (0, "0x00000000")),
                (0x0800_0500, "0x08000500"),
            )
        ),
        (
            Question(45, "62us"),
            {"ended": "", "first_cycle": 1234, "end_cycle": 1000},
            "No cycle is left to pend TIM3 at: it would begin at cycle 1,234 and end at cycle 1,000; give a "
            "later --until or an earlier --from.",
        ),
    ],
)
def test_an_interrupt_that_cannot_be_pended_is_told_whole(
    monkeypatch: pytest.MonkeyPatch, question: Question, told: dict[str, Any], sentence: str
) -> None:
    monkeypatch.setattr(simulator, "ask", lambda *_: Answers(**{**ANSWERED, **told}))
    with pytest.raises(LatencyError) as refused:
        latencies(subject(), question, "", False, lambda _: None, "reset")
    assert str(refused.value) == sentence


def test_a_run_that_ended_before_a_pend_has_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "ask", lambda *_: Answers(**ANSWERED))
    result = latencies(subject(), Question(45, "62us"), "", False, lambda _: None, "reset")
    assert (result.taken, result.worst) == ([], [])
    assert reasons(result, [])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--mode fast", "give sweep or random"),
        ("--every 0", "give 1 or more"),
        ("--seed 3", "go with --mode random"),
        ("--mode random --every 3", "goes with --mode sweep"),
        ("--enable 16", "from 0 to 15"),
        ("--until soon", "give a time such as 100ms"),
    ],
)
def test_options_that_mean_nothing(program: UserProgram, words: str, sentence: str) -> None:
    done = lab.run("latency", program.elf, "--irq", "TIM2", *words.split())
    assert done.returncode == 2 and sentence in done.stderr


def test_a_program_without_symbols_has_addresses(program: UserProgram, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["arm-none-eabi-strip", "-o", stripped, program.elf], check=True)
    latency = _latency(UserProgram(stripped))
    assert latency["handler"].startswith("0x0800")
    assert latency["cycles"]["max"] == _latency(program)["cycles"]["max"]
    with pytest.raises(TailscopeError, match="no symbols, so masked is not known"):
        _asked(UserProgram(stripped), "masked..")


def test_start_up_has_a_line_of_its_own(tmp_path: Path) -> None:
    """Interrupt 28 is enabled before 1,000 NOPs of start-up; later 100 hold it at most."""
    elf = made.build(tmp_path, "riot", "-g", "-DEARLY")
    pended = room.question(room.Pending(every=1), irq="TIM2", until="cycles:3000")
    document = room.run(UserProgram(elf), pended, (), until="cycles:3000").document["latency"]
    start, early = document["start"], document["start_up"]
    assert document["kernel"] == "RIOT" and start["from"] == "start of RIOT"
    assert document["window"]["first_cycle"] == start["cycle"] > 1000
    assert 1000 < early["cycles"] < 1100 and early["raised"]["function"] == "reset"
    assert early["first_cycle"] == document["first_use_cycle"] < 1000
    raised = [
        (row, wait["raised"])
        for row in document["worst"]
        for wait in row["waits"]
        if wait["raised"] and wait["raised"]["function"] == "update_table"
    ]
    masked, place = raised[0]
    assert 100 < masked["cycles"] < 150
    assert masked["task"] in ("motor", "lamp") and place["lock"] == "irq_disable"
    text = as_text({"latency": document, "noted": [], "reasons": [], "polls": None})
    assert "Start-up, until RIOT started its scheduler (cpu_switch_context_exit()), is left out" in text
    assert f"in task {masked['task']}" in text and "set at irq_disable in update_table (" in text
    whole = room.run(UserProgram(elf), pended, (), until="cycles:3000", start="reset").document["latency"]
    assert whole["cycles"]["max"] == early["cycles"] and whole["start_up"] is None
    assert whole["window"]["first_cycle"] == early["first_cycle"]


def test_sections_of_start_up_are_left_out_unless_there_are_no_others(tmp_path: Path) -> None:
    elf = made.build(tmp_path, "chibios")
    document = room.run(UserProgram(elf), None, ("update_table..", "chSysInit.."), until="1ms").document
    own, early = document["sections"]
    assert (own["count"], own["start_up"]) == (2, None)
    assert {row["task"] for row in own["worst"]} == {"motor", "lamp"}
    assert (early["count"], early["start_up"]) == (1, None)


def test_the_handler_behind_a_common_one_is_named(tmp_path: Path) -> None:
    elf = made.build(tmp_path, "nuttx")
    pended = room.question(room.Pending(every=1), irq="TIM2", until="cycles:3000")
    document = room.run(UserProgram(elf), pended, (), until="cycles:3000").document["latency"]
    assert document["handler"] == "exception_common, before tim2_isr"
