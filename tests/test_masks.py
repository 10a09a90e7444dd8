"""`./lab masks` on programs whose sections one can count: the numbers, the places, the files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analysis.program.masks.measure import MaskReport, measure
from analysis.program.parts import as_json
from analysis.program.subject import Subject
from simulator import run as simulator
from simulator.program import user_program
from tests import lab, masked_sections
from tests.masked_sections import line_of

UNTIL = "5ms"
ENTRY_CYCLES = 12
"""To enter a handler at once, from memory without wait states (Cortex-M4 TRM, section 3.9)."""
CYCLE_NS = 62.5


def measured(elf: Path, until: str = UNTIL, explain: bool = False) -> MaskReport:
    return measure(Subject.of(user_program(elf), until), explain, lambda _: None)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return masked_sections.build(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def report(elf: Path) -> MaskReport:
    return measured(elf, explain=True)


@pytest.fixture(scope="module")
def document(report: MaskReport) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(json.dumps(as_json(report)))
    return content


def by_function(document: dict[str, Any], function: str) -> list[dict[str, Any]]:
    return [worst for worst in document["worst"] if worst["begin"]["function"] == function]


# CPSIE takes a cycle, which belongs to the section: it ends when the mask is gone.
@pytest.mark.parametrize(
    ("function", "kind", "cycles", "count"),
    [
        ("short_section", "primask", 100 + 1, 3),
        ("update_table", "primask", 1000 + 1, 1),
        ("fault_masked", "faultmask", 300 + 1, 1),
        ("on_systick", "handler", ENTRY_CYCLES + 50 + 1, 1),
        ("on_tim2", "handler", ENTRY_CYCLES + 200 + 1, 1),
    ],
)
def test_a_section_is_as_long_as_its_instructions(
    document: dict[str, Any], function: str, kind: str, cycles: int, count: int
) -> None:
    (worst,) = by_function(document, function)
    assert (worst["kind"], worst["cycles"], worst["count"]) == (kind, cycles, count)
    assert worst["ns"] == cycles * CYCLE_NS
    assert worst["end_cycle"] - worst["begin_cycle"] == cycles
    assert worst["begin"]["file"] == "main.c"


def test_a_level_lasts_while_a_stronger_one_is_set(document: dict[str, Any]) -> None:
    """The inner one: 20 NOPs, and MSR of two cycles. The outer one has MSRs and MOVs besides."""
    outer, inner = by_function(document, "levels")
    assert (outer["level"], inner["level"]) == (0x50, 0x20)
    assert inner["cycles"] == 20 + 2
    assert 10 + inner["cycles"] + 30 < outer["cycles"] <= 10 + inner["cycles"] + 30 + 6


def test_sleep_that_an_interrupt_would_have_ended_is_told_apart(document: dict[str, Any]) -> None:
    """SysTick's 5,000 cycles end the sleep; 40 NOPs and a few instructions are awake."""
    (worst,) = by_function(document, "doze")
    assert 4900 < worst["asleep_cycles"] < 5000
    assert 40 < worst["cycles"] < 50


def test_the_longest_come_first_and_have_their_places(document: dict[str, Any]) -> None:
    lengths = [worst["cycles"] for worst in document["worst"]]
    assert lengths == sorted(lengths, reverse=True)
    longest = document["worst"][0]
    assert longest["begin"]["function"] == "update_table"
    # It calls an inline function to mask: the line is that of the call.
    assert longest["begin"]["line"] == line_of("    mask();")
    assert longest["end"]["line"] == line_of("    unmask();")
    calls = [(frame["function"], frame["line"]) for frame in longest["stack"]]
    assert calls == [
        ("mask", line_of('"cpsid i" ::')),
        ("update_table", line_of("    mask();")),
        ("reset", line_of("    update_table();")),
    ]


def test_an_interval_names_what_it_held_off(document: dict[str, Any]) -> None:
    outer, inner = by_function(document, "levels")
    assert inner["held"] == ["SysTick (on_systick)", "IRQ 28 (on_tim2)", "IRQ 29 (on_tim3)"]
    assert outer["held"] == ["SysTick (on_systick)", "IRQ 29 (on_tim3)"]


def test_a_priority_waits_for_masks_and_handlers_together(document: dict[str, Any]) -> None:
    assert [priority["number"] for priority in document["priorities"]] == [*range(16)]
    priorities = {
        priority["priority"]: priority for priority in document["priorities"] if priority["exceptions"]
    }
    assert list(priorities) == [0x30, 0x60, 0xF0]
    assert all(priority["worst"]["cycles"] == 1001 for priority in priorities.values())
    # TIM3 does not hold TIM2 off, which interrupts it; it does hold itself.
    (tim3,) = by_function(document, "on_tim3")
    lengths = {key: [row[0] for row in priority["distribution"]] for key, priority in priorities.items()}
    assert tim3["cycles"] in lengths[0x60] and tim3["cycles"] not in lengths[0x30]
    assert priorities[0x30]["exceptions"] == ["IRQ 28 (on_tim2)"]


def test_the_program_does_not_notice(elf: Path, report: MaskReport) -> None:
    plain = simulator.run(elf, until=UNTIL).stats
    assert (plain.cycles, plain.instructions) == (report.cycles, report.instructions)


def test_the_instructions_of_an_interval_add_up_to_it(document: dict[str, Any]) -> None:
    explained = document["explained"]["primask"]
    assert explained["cycles"] == 1001
    texts = [step["text"] for step in explained["steps"]]
    assert texts == ["nop"] * 1000 + ["cpsie i"]
    assert {step["cycles"] for step in explained["steps"]} == {1}


def test_a_stripped_program_has_addresses_and_the_same_cycles(
    elf: Path, report: MaskReport, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.elf"
    subprocess.run(["arm-none-eabi-strip", "-o", str(bare), str(elf)], check=True)
    content = as_json(measured(bare))
    assert content["worst"][0]["cycles"] == report.worst[0].cycles
    assert content["worst"][0]["begin"]["function"] == f"{report.worst[0].begin.address:#010x}"
    assert sum("has no debug information" in note for note in content["notes"]) == 1


def test_the_command_writes_what_it_is_asked_for(elf: Path, tmp_path: Path) -> None:
    page, stacks, trace = (tmp_path / name for name in ("page.html", "stacks.txt", "trace.json"))
    files = ("--output", page, "--folded", stacks, "--perfetto", trace)
    done = lab.run("masks", elf, "--until", UNTIL, *files)
    assert done.returncode == 0, done.stderr
    assert "1,001 cycles (62.56 µs), primask, raised by update_table (main.c:" in done.stdout
    assert all(path.stat().st_size for path in (page, stacks, trace))


def test_a_program_that_ends_in_its_fault_handler_is_no_success(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        "extern unsigned stack_top[]; void reset(void); void hard_fault(void);\n"
        '__attribute__((section(".vectors"), used))\n'
        "static void *const vectors[] = {stack_top, (void *)reset, 0, (void *)hard_fault};\n"
        "void hard_fault(void) { for (;;) {} }\n"
        'void reset(void) { __asm volatile("cpsid i\\n cpsie i\\n udf #0"); }\n'
    )
    fails = masked_sections.build(tmp_path, source=source)
    done = lab.run("masks", fails)
    assert done.returncode == 1
    said = "the program ended in the handler of a HardFault; cause: an undefined instruction"
    assert "The run ended at cycle" in done.stdout and said in done.stdout
    done = lab.run("masks", fails, "--json")
    content = json.loads(done.stdout)
    assert content["ended"].startswith(said) and "virtual-nucleo" not in content["ended"]
    assert content["intervals"]["primask"]["count"] == 1, "what was measured up to there stands"
