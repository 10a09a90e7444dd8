"""`tailscope.masks` and `tailscope.latency` on a program whose sections one can count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tailscope
from base.paths import ROOT
from tests import lab, masked_sections
from tests.masked_sections import line_of
from tests.sentences import Sentences

UNTIL = "5ms"
BRIEFLY = "cycles:3000"
"""The sections that PRIMASK makes are over by then."""
CYCLE_NS = 62.5
ENTRY_CYCLES = 12
"""To enter a handler at once, from memory without wait states (Cortex-M4 TRM, section 3.9)."""


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return masked_sections.build(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def masks(elf: Path) -> tailscope.Masks:
    return tailscope.masks(elf, until=UNTIL)


@pytest.fixture(scope="module")
def latency(elf: Path) -> tailscope.Latency:
    return tailscope.latency(elf, irq="TIM2", sections=["short_section.."], until=BRIEFLY)


def changed(folder: Path, *replaced: tuple[str, str]) -> Path:
    """The program with other words in its source."""
    text = masked_sections.SOURCE.read_text(encoding="utf-8")
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    source = folder / "other.c"
    source.write_text(text, encoding="utf-8")
    return masked_sections.build(folder, "-Wno-unused-function", source=source)


# CPSIE takes a cycle, which belongs to the section; MSR takes two.
@pytest.mark.parametrize(
    ("kind", "level", "cycles", "function"),
    [
        (None, None, 1000 + 1, "update_table"),
        ("primask", None, 1000 + 1, "update_table"),
        ("faultmask", None, 300 + 1, "fault_masked"),
        ("basepri", 0x20, 20 + 2, "levels"),
        ("handler", 15, ENTRY_CYCLES + 50 + 1, "on_systick"),
        ("scheduler", None, 0, ""),
    ],
)
def test_the_longest_is_as_long_as_its_instructions(
    masks: tailscope.Masks, kind: str | None, level: int | None, cycles: int, function: str
) -> None:
    interval = masks.longest(kind, level)
    assert (interval.cycles, interval.ns, interval.function) == (cycles, cycles * CYCLE_NS, function)


def test_the_longest_says_where_it_is(masks: tailscope.Masks) -> None:
    interval = masks.longest("primask")
    called = line_of("update_table();")
    assert interval.where == f"update_table (main.c:{line_of('    mask();')}), from reset (main.c:{called})"
    assert [frame.function for frame in interval.stack] == ["mask", "update_table", "reset"]
    assert interval.end and interval.end.line == line_of("unmask();")
    assert "IRQ 28 (on_tim2)" in interval.held and interval.count == 1
    assert repr(interval) == f"<Interval primask: 1,001 cycles (62.56 µs), {interval.where}>"


def test_the_document_is_that_of_the_command(elf: Path, masks: tailscope.Masks) -> None:
    said = lab.run("masks", str(elf), "--until", UNTIL, "--json")
    assert masks.document == json.loads(said.stdout)


def test_what_masks_and_handlers_keep_waiting_is_told_by_priority(masks: tailscope.Masks) -> None:
    assert masks.not_taken(0x30).cycles >= 1001
    assert masks.not_taken(3).cycles == masks.not_taken(0x30).cycles
    # One of 0x70, which no interrupt has, waits for all that one of 0x60 waits for.
    assert masks.not_taken(7).cycles >= masks.not_taken(6).cycles
    with pytest.raises(tailscope.Error, match="the chip has no priority 19"):
        masks.not_taken(19)
    with pytest.raises(tailscope.Error, match="a baseline has no priorities"):
        masks.not_taken(0x30).check_baseline()


def test_a_limit_is_held_to_the_cycle(masks: tailscope.Masks) -> None:
    interval = masks.longest("primask")
    interval.check(at_most_cycles=1001, at_most_ns=1001 * CYCLE_NS)
    with pytest.raises(AssertionError, match=r"1,001 cycles are more than the 1,000 allowed") as failed:
        interval.check(at_most_cycles=1000)
    lines = str(failed.value).splitlines()
    assert lines[1:4] == [
        "primask: 1,001 cycles (62.56 µs)",
        f"raised by {interval.where}",
        "call stack, innermost first:",
    ]
    assert [line.split()[0] for line in lines[4:7]] == ["mask", "update_table", "reset"]
    with pytest.raises(AssertionError, match="ns are more than the 62,562 allowed"):
        interval.check(at_most_ns=62_562)
    with pytest.raises(AssertionError):
        interval.check(at_most_ns=float("nan"))
    with pytest.raises(tailscope.Error, match="needs a limit"):
        interval.check()
    with pytest.raises(AssertionError, match="there is no baseline of it"):
        interval.check_baseline()


def test_the_longest_time_may_be_of_another_clock(tmp_path: Path) -> None:
    """At half the clock 101 cycles take longer than 151 at the whole one."""
    slower = "REGISTER(0x40023808) |= 8u << 4;\n    REGISTER(0xE000E100) = 1u << 28 | 1u << 29;"
    loops = "for (int i = 0; i < 3; i++)\n        short_section();\n    update_table();"
    elf = changed(
        tmp_path,
        ("NOPS(1000)", "NOPS(150)"),
        (loops, f"update_table();\n    {slower}\n    short_section();"),
        ("fault_masked();\n    levels();\n    in_turn();\n    doze();", ""),
    )
    interval = tailscope.masks(elf, until=UNTIL).longest("primask")
    assert (interval.cycles, interval.ns) == (151, 101 * 2 * CYCLE_NS)


def test_a_run_that_ended_early_has_no_numbers_by_accident(tmp_path: Path) -> None:
    elf = changed(tmp_path, ("    levels();\n    in_turn", '    __asm__ volatile("udf");\n    in_turn'))
    with pytest.raises(tailscope.NotComplete, match="is truncated: The run ended at cycle ") as refused:
        tailscope.masks(elf, until=UNTIL)
    assert refused.value.verdict == "truncated"


def test_a_mask_that_never_ends_is_not_overlooked(tmp_path: Path) -> None:
    elf = changed(
        tmp_path, ("    in_turn();\n    doze();", '    __asm__ volatile("cpsid i");\n    for (;;) {}')
    )
    with pytest.raises(tailscope.NotComplete, match=r"stopped in reset .* masks with primask"):
        tailscope.masks(elf, until=UNTIL)
    result = tailscope.masks(elf, until=UNTIL, any_verdict=True)
    assert (result.complete, result.longest("faultmask").cycles) == (False, 301)


def test_a_section_that_the_end_cuts_off_has_no_length(elf: Path) -> None:
    """update_table is under way: it masks for a thousand cycles from about cycle 380 on."""
    result = tailscope.masks(elf, until="cycles:600")
    with pytest.raises(tailscope.NotComplete, match=r"primask, raised by update_table .* was still open"):
        result.longest("primask")
    with pytest.raises(tailscope.NotComplete):
        result.longest()
    with pytest.raises(tailscope.NotComplete, match="At the end an interrupt of priority 48"):
        result.not_taken(0x30)


def test_what_was_never_seen_is_within_no_limit(masks: tailscope.Masks) -> None:
    interval = masks.longest("scheduler")
    assert (interval.cycles, interval.seen) == (0, False)
    with pytest.raises(tailscope.Error, match="it cannot be said that it is within a limit"):
        interval.check(at_most_cycles=5)


def test_a_core_that_sleeps_at_the_end_is_no_mask_that_lasts(elf: Path) -> None:
    """An interrupt would wake it: `doze` masks, and sleeps from cycle 2,600 to beyond 7,000."""
    result = tailscope.masks(elf, until="cycles:6000")
    assert [interval["kind"] for interval in result.document["open"]] == ["primask"]
    assert result.document["open"][0]["asleep_cycles"] > 3000
    assert result.longest("primask").cycles == 1001


def test_an_interrupt_waits_for_the_section_and_its_entry(latency: tailscope.Latency) -> None:
    """CPSID takes a cycle; it is in progress when the interrupt is pended."""
    wait = latency.longest
    assert (wait.cycles, wait.ns) == (1 + 1001 + ENTRY_CYCLES, 1014 * CYCLE_NS)
    assert [(cause.cycles, cause.cause) for cause in wait.waits][1:] == [
        (1001, "PRIMASK"),
        (12, "entry alone"),
    ]
    assert wait.waits[1].raised and wait.waits[1].raised.function == "update_table"
    assert (latency.irq, latency.cycles.max, latency.pends) == ("TIM2", 1014, latency.cycles.n)
    with pytest.raises(AssertionError, match=r"1,014 cycles are more[^$]*waited for\n +1 cycle: inst"):
        wait.check(at_most_cycles=1013)


def test_a_section_is_measured(latency: tailscope.Latency) -> None:
    """CPSID, a hundred NOPs, CPSIE, and BX LR of at most three cycles."""
    section = latency.section("short_section..")
    assert section.count == 3 and section.longest.begin.function == "short_section"
    assert 1 + 100 + 1 + 1 <= section.longest.cycles <= 1 + 100 + 1 + 4
    with pytest.raises(tailscope.Error, match=r"the section 'levels\.\.' was never passed, or not asked for"):
        latency.section("levels..")


def test_sections_alone_have_no_wait(elf: Path) -> None:
    result = tailscope.latency(elf, sections="short_section..", until=UNTIL)
    assert result.section("short_section..").count == 3 and "short_section" in repr(result)
    with pytest.raises(tailscope.Error, match="no interrupt was asked for; name one"):
        assert result.longest


def test_the_sentence_is_that_of_the_program(
    elf: Path,
    masks: tailscope.Masks,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sentences: Sentences,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, until in ((elf, "soon"), (elf, "--help"), ("--help", "1s"), ("a\nb\x1b.elf", "1s")):
        with sentences.raised(tailscope.Error):
            tailscope.masks(name, until=until)
    with sentences.raised(tailscope.Error):
        masks.longest("irq")


def test_the_program_ends_with_what_started_it(elf: Path) -> None:
    """Ctrl-C reaches both from a terminal; here only the one that waits."""
    script = f"import tailscope; tailscope.latency({str(elf)!r}, irq='TIM2', until='20s')"
    waiting = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (children := children_of(waiting.pid)):
        assert waiting.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    waiting.send_signal(2)
    assert "KeyboardInterrupt" in waiting.communicate(timeout=300)[1]
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def children_of(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
