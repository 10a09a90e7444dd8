"""What must hold between the figures, and the values of a thesis that can be had again to the byte.

E. Auvinen, "Embedded Dynamic Memory Allocator Optimisation", Tampere University 2022.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from analysis.fragmentation.of_run import memory_of_run
from analysis.fragmentation.study import Row, Study
from analysis.fragmentation.tests.conftest import HEAP_BYTES, thesis_traces
from base.run_folder.records import Boot, OperationRecord, RecordLog
from base.run_folder.tables import MEMORY_COLUMNS
from base.tests.sentences import is_sentence
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.generator import Step
from scenarios.operations import Allocate, Call, Free
from scenarios.plan import Plan, compile_steps
from scenarios.stimulus import NO_STIMULUS
from scenarios.trace import of_steps
from simulator import run as simulator
from studies.reproduce.published import find

REGION_OVERHEAD_BYTES = {
    "avl": 0,
    "best_fit": 0,
    "first_fit": 0,
    "half_fit_cstm": 0,
    "half_tree": 0,
    "heap_4": 8,
    "o1heap": 160 + 16,
    "umm_malloc": 24,
}
"""Of 86,064 bytes. The indexes' lists lie outside. The thesis has 160 for o1heap, and its blocks
tile multiples of 32 bytes, so that 16 of these 86,064 are left over.
"""


def rows(name: str, allocators: list[str], seeds: int, knobs: dict[str, int] | None = None) -> list[Row]:
    return Study(thesis_traces(name, range(1, seeds + 1)), allocators, HEAP_BYTES, knobs or {}).rows()


def test_the_smallest_heap_is_what_is_used_and_the_regions_own() -> None:
    """Where every block that fits is found, a heap with a byte to spare is not the smallest."""
    for row in rows("small", ["best_fit", "first_fit", "half_tree", "heap_4", "o1heap"], 2):
        assert row.smallest is not None
        own = 160 if row.allocator == "o1heap" else REGION_OVERHEAD_BYTES[row.allocator]
        assert row.cost_metric.smallest_bytes == row.smallest.used_bytes + own
        assert row.smallest.failures == 0


def test_the_published_buddy_on_large_blocks_comes_out_to_the_byte() -> None:
    """It needs three blocks of 12,288 bytes, whatever the seed. The thesis has 48 bytes of
    management inside the region, and so has ours if it is laid out alike. Usually it keeps them
    outside, but for the 4 bytes before the first header, rounded up to 8.
    """
    (large,) = (part for part in find("thesis-b-heap")[1].part if part.title == "Large")
    theirs = {column: large.printed("Buddy", column) for column in large.columns}
    for knobs, inside in (({"REMAINDER_FIRST": 1}, 48), ({}, 8)):
        for row in Study(thesis_traces("large", range(1, 4)), ["ublox_buddy"], HEAP_BYTES, knobs).rows():
            assert row.smallest is not None
            assert (row.given.used_bytes, row.given.sbbm_bytes) == (theirs["used"], theirs["SBMM"])
            assert (row.smallest.used_bytes, row.smallest.sbbm_bytes) == (36_864, theirs["SBMM there"])
            assert row.cost_metric.smallest_bytes == (theirs["Cost Metric"] or 0) - 48 + inside


LIFETIMES = replace(
    catalogue.load("lifetimes_small", {"allocations": 60, "size_max_bytes": 4000}), stimulus=NO_STIMULUS
).compile()
ALIGNED = compile_steps(
    "aligned",
    {},
    NO_STIMULUS,
    [
        *(Step(Allocate(slot, 40 + 100 * slot, align_log2=4 + slot % 7)) for slot in range(20)),
        *(Step(Free(slot)) for slot in range(0, 20, 3)),
        *(Step(Allocate(slot, 90, align_log2=8)) for slot in range(0, 20, 3)),
    ],
)
STRESS = catalogue.load("mem_stress", {})
SLOT_BYTES = 8


def addresses(elf: Path) -> dict[str, int]:
    with elf.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        return {symbol.name: symbol["st_value"] for symbol in symbols.iter_symbols()}


def on_the_board(image: firmware.FirmwareImage, plan: Plan) -> tuple[RecordLog, dict[int, int | None]]:
    """The records; and for each slot where in the region its last payload began, None for none.

    A slot keeps its address behind a free (firmware/bench/interpreter.c).
    """
    done = simulator.run(image.elf, image=plan.image, until="400ms", states_at=("400ms",))
    (state,), at = done.states, addresses(image.elf)
    payloads = {slot: state.word(at["slots"] + SLOT_BYTES * slot) for slot in range(plan.slots)}
    return done.records, {
        slot: payload - at["heap_region"] if payload else None for slot, payload in payloads.items()
    }


ALLOCATORS = ("seglist", "heap_4", "o1heap", "tlsf_conte", "buddy_system_allocator", "tlsf_compact")


@pytest.mark.parametrize(
    ("allocator", "plan", "heap_bytes"),
    [
        ("seglist", ALIGNED, 65_536),
        *(
            pytest.param(name, plan, 65_536, marks=pytest.mark.long)
            for name in ALLOCATORS
            for plan in (LIFETIMES, ALIGNED)
        ),
        # A list goes by the region's size, and a buddy system by what it is a sum of.
        *(
            pytest.param(name, LIFETIMES, 86_064, marks=pytest.mark.long)
            for name in ("seglist", "buddy_system_allocator")
        ),
    ],
)
def test_blocks_lie_where_the_board_has_them(allocator: str, plan: Plan, heap_bytes: int) -> None:
    image = firmware.build(allocator, heap_bytes=heap_bytes)
    log, payloads = on_the_board(image, plan)
    memory = memory_of_run(image, plan, log)
    assert memory.figures.why_not is None
    rows = plan.operations.join(memory.columns, on="seq").filter(kind="A")
    last = {row["id"]: row for row in rows.iter_rows(named=True)}
    assert set(last) == set(payloads)
    for slot, payload in payloads.items():
        block = last[slot]
        if payload is None:
            assert (block["block_begin"], block["block_end"]) == (None, None)
        else:
            assert block["block_begin"] <= payload
            assert payload + block["size"] <= block["block_end"] <= heap_bytes


def worked_out() -> Plan:
    """Blocks of first_fit: 16 of header, payloads of 104 and 48. The third goes into the first."""
    steps = (Allocate(0, 100), Call("empty"), Allocate(1, 41), Free(0), Allocate(2, 80_000), Allocate(3, 8))
    return compile_steps("sum", {}, NO_STIMULUS, [Step(step) for step in steps])


def test_columns_and_figures_are_those_of_a_sum_by_hand() -> None:
    image, plan = firmware.build("first_fit"), worked_out()
    log, _ = on_the_board(image, plan)
    memory = memory_of_run(image, plan, log)
    assert memory.columns.schema.names() == ["seq", *MEMORY_COLUMNS.names()]
    assert memory.columns.rows() == [
        (0, 0, 120, 120, 65_536 - 120),
        (2, 120, 184, 184, 65_536 - 184),
        (3, 0, 120, 184, None),
        (4, None, None, 184, 65_536 - 184),
        (5, 0, 24, 184, 65_536 - 184),
    ]
    figures = memory.figures
    assert (figures.peak_live_bytes, figures.used_bytes, figures.sbbm_bytes) == (141, 184, 65_536 - 184)
    assert figures.fragmentation_percent == pytest.approx(100 * 43 / 141)


def altered(log: RecordLog, which: type[Boot | OperationRecord], changes: dict[str, Any]) -> RecordLog:
    """The log with the first record of that type changed."""
    first: Any = log.all(which)[0]
    changed = replace(first, **changes)
    return replace(log, records=tuple(changed if record is first else record for record in log.records))


def test_a_replay_that_the_records_contradict_is_not_believed() -> None:
    image, plan = firmware.build("first_fit"), worked_out()
    log, _ = on_the_board(image, plan)
    for which, changes in (
        (Boot, {"free_bytes": 65_512}),
        (OperationRecord, {"probes": 3}),
        (OperationRecord, {"bytes_in_use": 112}),
        (OperationRecord, {"kind": "K"}),
    ):
        memory = memory_of_run(image, plan, altered(log, which, changes))
        assert memory.columns.is_empty()
        assert set(memory.figures.model_dump(exclude={"why_not"}).values()) == {None}
        assert is_sentence(str(memory.figures.why_not), "*.")


@pytest.mark.long
def test_a_run_and_a_study_have_one_figure() -> None:
    """The study knows nothing of the board: its region begins where the PC's does."""
    image = firmware.build("buddy_system_allocator")
    assert addresses(image.elf)["heap_region"] == 0x20000000
    (studied,) = Study(
        [of_steps("x", STRESS.generator.steps())], ["buddy_system_allocator"], 65536, searches=False
    ).rows()
    plan = replace(STRESS, stimulus=NO_STIMULUS).compile()
    log = simulator.run(image.elf, image=plan.image, until="60s").records
    figures = memory_of_run(image, plan, log).figures
    assert figures is not None
    assert figures.used_bytes == studied.given.used_bytes
    assert figures.fragmentation_percent == studied.given.fragmentation_percent
