from capture.acquisition import duration
from firmware.build import boards
from scenarios import catalogue
from scenarios.plan import Plan

CORE_HZ = boards.default().core_hz


def longest_s(plan: Plan) -> float:
    return duration.longest_s(plan, CORE_HZ)


def test_the_records_alone_take_less() -> None:
    """The shortest possible records of mem_stress: 1,200
    lines of 30 bytes at 100,000 bytes per second.
    """
    assert longest_s(catalogue.load("mem_stress").compile()) > 1200 * 30 / 100_000


def test_interrupts_stretch_it() -> None:
    calm = catalogue.load("mem_stress", stimulus="none").compile()
    busy = catalogue.load("mem_stress", stimulus="periodic:3000").compile()
    assert longest_s(calm) < longest_s(busy)


def test_it_stays_affordable() -> None:
    """At most 300 million samples at 84 MS/s for the longest of the article's workloads."""
    assert longest_s(catalogue.load("mem_frag").compile()) * CORE_HZ < 3e8
