"""Scenarios on a board with a smaller heap: the same question with fewer blocks, or a refusal."""

import pytest

from base.files.tests.sentences import is_sentence
from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.place import LARGE, Place
from scenarios.plan import Plan
from scenarios.scaling import GRAIN_BYTES, HEADER_BYTES

HEAP_BYTES, SLOTS, ENTRIES = 8192, 320, 8186
SMALL = Place(HEAP_BYTES, ENTRIES, lambda heap_bytes: SLOTS - (heap_bytes - HEAP_BYTES) // 8)
TINY = Place(4096, ENTRIES, lambda _: SLOTS)
REFUSED = ("lifetimes_large", "lifetimes_random", "worst")


def gross_bytes(plan: Plan) -> int:
    """The most that lives at once, with a header of 16 bytes for each block."""
    live = most = 0
    for kind, size in plan.operations.select("kind", "size").iter_rows():
        block = -(-size // GRAIN_BYTES) * GRAIN_BYTES + HEADER_BYTES
        live += {"A": block, "F": -block, "K": 0}[kind]
        most = max(most, live)
    return most


@pytest.mark.parametrize(("place", "depth"), [(LARGE, 256), (SMALL, 32), (TINY, 16)])
@pytest.mark.parametrize(("scenario", "beside"), [("mem_frag", 136 - 88), ("latency_sweep", 0)])
def test_the_ramp_takes_the_same_part_of_every_heap(
    scenario: str, beside: int, place: Place, depth: int
) -> None:
    """64 KiB has 256 pairs, of 112 bytes with their headers. The request of 136 comes when a victim
    of 88 is free, or many are.
    """
    plan = catalogue.load(scenario).compile(place)
    assert plan.parameters["depth"] == depth
    assert plan.heap_bytes == place.heap_bytes
    assert gross_bytes(plan) == 112 * depth + beside
    assert 0.43 < gross_bytes(plan) / place.heap_bytes < 0.48


@pytest.mark.parametrize("name", catalogue.names())
def test_a_scenario_of_the_bench_fits_or_is_refused_in_a_sentence(name: str) -> None:
    try:
        plan = catalogue.load(name).compile(SMALL)
    except ScenarioError as refused:
        assert name in REFUSED or name.startswith("periodic_")
        assert is_sentence(str(refused), "*.")
        assert "8,192" in str(refused) or "8,186 entries" in str(refused)
        return
    assert plan.slots <= SLOTS
    assert plan.operations.height <= ENTRIES
    assert name.startswith("until_full") or gross_bytes(plan) < HEAP_BYTES


def test_a_recorded_program_is_scaled_until_it_fits() -> None:
    plan = catalogue.load("recorded_dash").compile(SMALL)
    assert plan.parameters["scale"] == 3
    with pytest.raises(ScenarioError, match=r"--scale 3 keeps one block in 3 .*, and fits"):
        catalogue.load("recorded_dash", {"scale": 1}).compile(SMALL)
