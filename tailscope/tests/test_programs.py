"""`tailscope.masks` and `tailscope.latency` on a program whose sections one can count."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

import tailscope
from tests import lab, masked_sections
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


def test_the_document_is_that_of_the_command(elf: Path, masks: tailscope.Masks) -> None:
    said = lab.run("masks", str(elf), "--until", UNTIL, "--json")
    assert masks.document == json.loads(said.stdout)


def test_a_bound_is_that_of_the_command_and_not_below_what_was_seen(elf: Path) -> None:
    result = tailscope.bounds(elf, until=BRIEFLY)
    assert result.document == json.loads(lab.run("bounds", str(elf), "--until", BRIEFLY, "--json").stdout)
    longest = result.longest
    assert (longest.kind, longest.begin and longest.begin.function) == ("primask", "update_table")
    assert longest.seen_cycles == 1000 + 1 <= longest.cycles <= 1000 + 10
    assert all((row.seen_cycles or 0) <= row.cycles <= longest.cycles for row in result.worst)
    with pytest.raises(AssertionError, match="are more than the 1,000 allowed"):
        longest.check(at_most_cycles=1000)


def test_a_figure_is_copied_with_its_story(masks: tailscope.Masks) -> None:
    interval = masks.longest("primask")
    for figure in (interval.cycles, interval.ns):
        assert (copy.deepcopy(figure), copy.deepcopy(figure).of) == (figure, interval)
        assert (pickle.loads(pickle.dumps(figure)), pickle.loads(pickle.dumps(figure)).of) == (
            figure,
            interval,
        )


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
        masks.check_baseline()


def test_a_run_that_ended_early_has_no_numbers_by_accident(tmp_path: Path) -> None:
    elf = masked_sections.changed(
        tmp_path, ("    levels();\n    in_turn", '    __asm__ volatile("udf");\n    in_turn')
    )
    with pytest.raises(tailscope.NotComplete, match="is truncated: The run ended at cycle ") as refused:
        tailscope.masks(elf, until=UNTIL)
    assert refused.value.verdict == "truncated"


def test_a_section_that_the_end_cuts_off_has_no_length(elf: Path) -> None:
    """update_table is under way: it masks for a thousand cycles from about cycle 380 on."""
    result = tailscope.masks(elf, until="cycles:600")
    with pytest.raises(tailscope.NotComplete, match=r"primask, raised by update_table .* was still open"):
        result.longest("primask")
    with pytest.raises(tailscope.NotComplete):
        result.longest()
    with pytest.raises(tailscope.NotComplete, match="At the end an interrupt of priority 48"):
        result.not_taken(0x30)


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
    with pytest.raises(AssertionError, match=r"1,014 cycles are more[^$]*waited for\n +1 cycles: inst"):
        wait.check(at_most_cycles=1013)


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
        masks.longest("irq")  # type: ignore[arg-type]
