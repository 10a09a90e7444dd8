from capture.acquisition.duration import bound_s
from capture.tests.synthetic import small_plan
from scenarios import catalogue


def test_more_operations_take_longer() -> None:
    assert bound_s(small_plan(depth=4)) < bound_s(small_plan(depth=40)) < bound_s(small_plan(depth=200))


def test_equal_plans_have_equal_bounds() -> None:
    assert bound_s(small_plan()) == bound_s(small_plan())


def test_the_records_alone_take_less() -> None:
    """The shortest possible records of mem_stress: 1,200 lines of 30 bytes at 100,000 bytes per second."""
    assert bound_s(catalogue.load("mem_stress").compile()) > 1200 * 30 / 100_000


def test_interrupts_stretch_it() -> None:
    calm = catalogue.load("mem_stress", stimulus="none").compile()
    busy = catalogue.load("mem_stress", stimulus="periodic:3000").compile()
    assert bound_s(calm) < bound_s(busy)


def test_it_stays_affordable() -> None:
    """At most 300 million samples at 84 MS/s for the longest of the article's workloads."""
    assert bound_s(catalogue.load("mem_frag").compile()) * 84e6 < 3e8
