"""What cannot run a scenario: a board, or allocators, refused when named, left out of `all`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from base.files.errors import CaptureError
from base.tests.sentences import is_sentence
from firmware.build import boards, fit
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.plan import Plan
from scenarios.stimulus import Stimulus
from tests.tables import table

FRAG = catalogue.load("mem_frag", {"depth": 2}).compile()
SENTENCE = "heap_1 never frees, and mem_frag frees"
NO_CHECKOUT = (
    "sys_heap is compiled from a checkout of your own (Zephyr, lib/heap/heap.c): "
    "set ZEPHYR_PATH to its folder."
)


def choose(plans: list[Plan], wanted: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return fit.choose_for(boards.default(), plans, wanted)


@pytest.fixture(autouse=True)
def no_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZEPHYR_PATH", raising=False)


def test_all_leaves_out_what_cannot_free_and_says_so() -> None:
    chosen, sentences = choose([FRAG], ["all"])
    assert chosen == tuple(name for name in firmware.allocators() if name != "heap_1")
    assert len(sentences) == 2
    assert sentences[0].startswith(f"heap_1 is left out. {SENTENCE}")
    assert sentences[1] == f"sys_heap is left out. {NO_CHECKOUT}"


def test_a_heap_beyond_an_allocators_own_limit() -> None:
    large = replace(FRAG, heap_bytes=72_000)
    with pytest.raises(CaptureError, match=r"^tlsf_crate manages 65,536 bytes at most, not 72,000\.$"):
        choose([large], ["tlsf", "tlsf_crate"])
    assert "tlsf_crate" not in choose([large], ["all"])[0]
    assert choose([FRAG], ["tlsf_crate"]) == (("tlsf_crate",), ())


def test_a_heap_that_leaves_too_few_slots() -> None:
    board = boards.default()
    largest = fit.largest_heap_bytes(FRAG.slots, board.memory.sram_bytes)
    assert fit.fit(board, replace(FRAG, heap_bytes=largest), "tlsf") is None
    refusal = fit.fit(board, replace(FRAG, heap_bytes=largest + 8), "tlsf")
    assert refusal is not None and f" {largest:,} bytes at most" in refusal
    assert is_sentence(refusal, "*.")


@table
def test_longer_periods_are_refused(stimulus: tuple[Any, ...], told: str) -> None:
    """The timers of an F103 have 16 bits."""
    narrow, plan = boards.board("nucleo-f103rb"), replace(FRAG, name="x", stimulus=Stimulus(*stimulus))
    refusal = fit.fit(narrow, plan, "tlsf")
    assert refusal is not None
    assert refusal.startswith(told)
    assert "its timer on Nucleo-F103RB counts 65,536" in refusal
    assert is_sentence(refusal, "*.")
    assert fit.fit(boards.default(), plan, "tlsf") is None
