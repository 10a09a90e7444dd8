"""Allocators that cannot run a scenario: refused when named, left out of `all`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from base.files.errors import CaptureError
from firmware.build import boards, fit
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.plan import Plan

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
