"""How candidates stand to a limit and a heap, which is taken, and what one has of its runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis import choice as text
from analysis.choice import Candidate, Choice, Standing
from base.run_folder.manifest import read_manifest
from dashboards.loaded.lanes import lanes
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from dashboards.tests.synthetic import Operation, write_run
from tests.tables import table

LIMIT_NS, HEAP_BYTES = 10_000.0, 8_192
FITS = Candidate(
    *("tlsf", "basepri", 1_488, 9_000.0, 12.0, "mem_stress"),
    bound_ns=10_000.0,
    smallest_heap_bytes=8_192,
    flash_bytes=1_492,
    static_ram_bytes=976,
)


def without(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names)


@table
def test_a_candidate_fits_only_by_a_bound_and_by_what_was_seen(
    lacks: tuple[str, ...], changes: dict[str, Any], standing: Standing
) -> None:
    candidate = replace(FITS, **without(*lacks), **changes)
    assert candidate.standing(LIMIT_NS, HEAP_BYTES) == standing


def test_of_those_that_fit_the_one_that_takes_least_ram_is_chosen() -> None:
    small = replace(
        FITS, allocator="small", smallest_heap_bytes=8_000, static_ram_bytes=100, bound_ns=9_999.0
    )
    unsearched = replace(FITS, allocator="unsearched", smallest_heap_bytes=None)
    unbounded = replace(FITS, allocator="unbounded", bound_ns=None, wait_ns=1.0)
    long = replace(FITS, allocator="long", wait_ns=20_000.0)
    failed = Candidate("failed", missing=("mem_frag is truncated: so.",))
    shuffled = [failed, long, unbounded, unsearched, FITS, small]
    choice = Choice("board", HEAP_BYTES, LIMIT_NS, shuffled, ["A note."])
    assert [row.allocator for row in choice.candidates] == [
        *("small", "tlsf", "unsearched", "unbounded", "long", "failed")
    ]
    assert choice.chosen is small
    assert choice.exit_status == 0
    assert choice.as_json()["choice"] == "small"
    printed = " ".join(text.as_text(choice).split())
    assert all(words in printed for words in (choice.sentence, "A note.", "mem_frag is truncated: so."))


@table
def test_where_none_is_shown_to_fit_none_is_chosen(
    lacks: tuple[str, ...], changes: dict[str, Any], status: int
) -> None:
    candidate = replace(FITS, **without(*lacks), **changes)
    choice = Choice("board", HEAP_BYTES, LIMIT_NS, [candidate], [])
    assert (choice.chosen, choice.exit_status) == (None, status)
    assert choice.sentence.endswith(".")


def test_a_candidate_has_the_longest_wait_of_all_its_runs(tmp_path: Path) -> None:
    bound = {"instructions": 400, "cycles": 1_680, "ns": 20_000.0, "region_decided": False, "why_not": None}
    seen = {**bound, "observed_cycles": 840, "ratio": 2.0}
    unseen = {**bound, "ns": 99_000.0, "observed_cycles": None, "ratio": None}
    changes = {"bounds": {"allocate": seen, "allocate_aligned": unseen}}
    folders = [
        write_run(tmp_path, scenario, "tlsf", [Operation("A", 8, 0, cycles)] * 3, changes=changes)
        for scenario, cycles in (("mem_stress", 420), ("mem_frag", 840))
    ]
    runs = [read_manifest(folder / "run.json") for folder in folders]
    candidate = Candidate.of("tlsf", runs, 4_096)
    # 840 cycles at 84 MHz and 46 of the entry. An aligned allocation, which the runs never did,
    # has no say.
    entry_ns = 46 / 0.084
    assert candidate.wait_ns == pytest.approx(10_000 + entry_ns)
    assert candidate.bound_ns == pytest.approx(20_000 + entry_ns)
    assert (candidate.scenario, candidate.operations, candidate.smallest_heap_bytes) == ("mem_frag", 6, 4_096)
    # A report says the same of the same limit, to the end of its error.
    (lane,) = lanes(by_scenario([load_run(folders[1])])["mem_frag"])
    within_ns = lane.waiters[0].wait.within_ns
    assert within_ns is not None and candidate.wait_ns is not None and candidate.budget_ns is not None
    assert within_ns == pytest.approx(candidate.wait_ns + candidate.budget_ns)
    bounded = replace(candidate, bound_ns=within_ns)
    assert bounded.standing(within_ns, HEAP_BYTES) == "fits"
    assert bounded.standing(within_ns - 0.1, HEAP_BYTES) == "not proven"

    operations = [Operation("A", 8, 0, 420)]
    broken = write_run(
        tmp_path / "broken", "mem_frag", "tlsf", operations, verdict="truncated", reasons=("It ended.",)
    )
    failed = Candidate.of("tlsf", [*runs, read_manifest(broken / "run.json")], "There is no compiler.")
    assert failed.wait_ns is None
    assert failed.missing == ("mem_frag is truncated: It ended.", "Its smallest heap: There is no compiler.")
