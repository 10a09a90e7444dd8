"""Allocators that cannot run a scenario: refused when named, left out of `all`."""

from __future__ import annotations

import pytest

from capture import suitability
from capture.edges import CaptureError
from firmware import build as firmware
from scenarios import catalogue
from scenarios.generators.generator import Step
from scenarios.operations import Allocate
from scenarios.plan import Plan, compile_steps

FRAG = catalogue.load("mem_frag", {"depth": 2}).compile()
SENTENCE = "heap_1 never frees, and mem_frag frees"


def test_all_leaves_out_what_cannot_free_and_says_so() -> None:
    chosen, sentences = suitability.choose([FRAG], ["all"])
    assert chosen == tuple(name for name in firmware.allocators() if name != "heap_1")
    assert len(sentences) == 1
    assert sentences[0].startswith(f"heap_1 is left out. {SENTENCE}")


def test_what_is_named_is_refused_before_anything_is_built() -> None:
    with pytest.raises(CaptureError, match=SENTENCE):
        suitability.choose([FRAG], ["tlsf", "heap_1"])
    assert suitability.choose([FRAG], ["tlsf", "heap_4"]) == (("tlsf", "heap_4"), ())


def test_a_scenario_without_frees_is_for_all() -> None:
    assert suitability.objection(without_frees(), "heap_1") is None


def test_an_unknown_allocator_is_left_to_the_build() -> None:
    assert suitability.choose([FRAG], ["tlfs"]) == (("tlfs",), ())


def without_frees() -> Plan:
    return compile_steps("grow", {}, FRAG.stimulus, [Step(Allocate(0, 8), "growth")])
