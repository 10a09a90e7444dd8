"""The heap on the simulated target against the same heap on the host, operation by operation."""

from __future__ import annotations

import re

import pytest

from base.run_folder.records import OperationRecord, parse
from capture.acquisition.source import longest_s
from firmware.build import image as firmware
from firmware.build.catalogue import EACH_KIND, allocators
from firmware.heap.tests.workloads import Row, rows
from scenarios import catalogue
from simulator import run as simulator


def only_drives_the_heap(scenario: str) -> bool:
    """Whether the scenario only allocates and frees. The host's replay can do nothing else."""
    return "K" not in catalogue.load(scenario).compile().operations["kind"].to_list()


# What these bring is other sizes and other orders; mem_stress and mem_frag do for them. Where
# blocks are aligned to more than the region is, the two differ by where it begins.
ALIKE = re.compile(r"lifetimes_.*|recorded.*|periodic_.*|sizes|worst|until_full_aligned")
SCENARIOS = [name for name in catalogue.names() if not ALIKE.fullmatch(name) and only_drives_the_heap(name)]
# Every allocator runs one of them. The others bring longer lists, which are the same code, and
# refused requests, whose consequences are decided above the allocator. One allocator of each kind
# of index is enough for these.
EVERY = "mem_stress"
ALL_SCENARIOS = ("seglist", "tlsf", "avl")
PAIRS = [
    pytest.param(scenario, name, marks=() if name in (*EACH_KIND, *ALL_SCENARIOS) else pytest.mark.long)
    for name, row in allocators().items()
    if "frees" in row.promises and not row.target_only and row.missing_checkout() is None
    for scenario in SCENARIOS
    if scenario == EVERY or name in ALL_SCENARIOS
]


@pytest.mark.parametrize(("scenario", "allocator"), PAIRS)
def test_target_and_host_do_the_same(scenario: str, allocator: str) -> None:
    plan = catalogue.load(scenario).compile()
    built = firmware.build(allocator)
    until_s = longest_s(plan, built.configuration.board.core_hz)
    done = simulator.run(built.elf, image=plan.image, until=f"{round(until_s * 1e9)}ns")
    on_target = [
        Row(record.seq, record.kind, record.size, record.probes, record.live, record.bytes_in_use)
        for record in parse(done.uart).all(OperationRecord)
    ]
    assert len(on_target) > 1000
    assert rows(allocator, scenario) == on_target
