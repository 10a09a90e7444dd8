"""The firmware on the virtual Nucleo: its pins and records against docs/reference/wire.md, edge by
edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from base.run_folder.edges import CHANNELS
from base.run_folder.records import (
    Boot,
    CalibrationRecord,
    CostRecord,
    EndRecord,
    FailRecord,
    HeapRecord,
    MarkRecord,
    OperationRecord,
    PlanRecord,
    Proof,
    R,
    RecordLog,
    StatRecord,
    StillRecord,
    TickRecord,
)
from firmware.build import catalogue
from firmware.build import image as firmware
from firmware.heap.tests.host_build import of_each_kind
from firmware.tests.images import ALLOCATE, FREE, MARK, entry, image
from simulator import run as simulator

FRAME_EDGES = 64
CALIBRATION = 16
COMMON = 8
COMMON_CHANNELS = ("CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR")

ODD = (
    entry(MARK, 0, 41),
    entry(ALLOCATE, 0, 70_000),  # more than the heap
    entry(FREE, 0, 0),
    entry(ALLOCATE, 1, 100, align=6),
    entry(FREE, 1, 0),
    entry(FREE, 1, 0),  # a second time
    entry(MARK, 0, 42),
    entry(ALLOCATE, 2, 24),
    entry(ALLOCATE, 3, 0),
)
OUTCOMES = ["O", "N", "A", "F", "E", "A", "O"]

CHURN = tuple(entry(kind, 0, size) for _ in range(60) for kind, size in ((ALLOCATE, 200), (FREE, 0)))


@dataclass(frozen=True)
class Run:
    """Edges by channel, as (core cycle, level), and what
    the firmware said, every line of it a record.
    """

    edges: dict[str, list[tuple[int, int]]]
    log: RecordLog

    def only(self, kind: type[R]) -> R:
        """The only record of its kind."""
        (record,) = self.log.all(kind)
        return record

    @property
    def operations(self) -> tuple[OperationRecord, ...]:
        return self.log.all(OperationRecord)

    def calibration(self, channel: str) -> list[CalibrationRecord]:
        return [record for record in self.log.all(CalibrationRecord) if record.channel == channel]

    def pulses(self, channel: str) -> list[tuple[int, int]]:
        """(rise, fall) of every pulse."""
        return [(a[0], b[0]) for a, b in pairwise(self.edges[channel]) if (a[1], b[1]) == (1, 0)]

    @property
    def run_span(self) -> tuple[int, int]:
        """First edge of the start frame, last of the end frame."""
        sync = self.edges["SYNC"]
        return sync[0][0], sync[-1][0]

    def within(self, channel: str) -> list[tuple[int, int]]:
        """The pulses of the run itself, its calibration at the start included."""
        first, last = self.run_span
        return [(rise, fall) for rise, fall in self.pulses(channel) if first < rise < last]

    def stimuli(self, channel: str) -> list[tuple[int, int]]:
        """The edges of the run itself."""
        first, last = self.run_span
        return [(cycle, level) for cycle, level in self.edges[channel] if first < cycle < last]

    def outside(self, channel: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The pulses before the start frame and after the end frame."""
        first, last = self.run_span
        pulses = self.pulses(channel)
        return [p for p in pulses if p[0] < first], [p for p in pulses if p[0] > last]

    def operation_edges(self) -> list[tuple[int, int]]:
        """SYNC between the frames."""
        return self.edges["SYNC"][FRAME_EDGES:-FRAME_EDGES]


CHECKING = [name for name, row in catalogue.allocators().items() if "checks_frees" in row.promises]
"""The images of this file free twice: what is no live block must be refused."""

Runner = Callable[[bytes], Run]


@pytest.fixture(scope="module", params=of_each_kind(CHECKING))
def run(request: pytest.FixtureRequest) -> Runner:
    return runner(firmware.build(request.param).elf)


def runner(elf: Path, until: str = "400ms") -> Runner:
    def run_image(operations: bytes) -> Run:
        done = simulator.run(elf, image=operations, until=until, edges=True)
        assert not done.records.damaged and not done.records.preamble
        by_channel: dict[str, list[tuple[int, int]]] = {name: [] for name in CHANNELS}
        for cycle, channel, level in done.edges.iter_rows():
            by_channel[channel].append((cycle, int(level)))
        return Run(by_channel, done.records)

    return run_image


def spacings(edges: list[tuple[int, int]]) -> set[int]:
    return {after - before for (before, _), (after, _) in pairwise(edges)}


@pytest.fixture(scope="module")
def odd(run: Runner) -> Run:
    return run(image(*ODD, mode=0, stimulus_period=0, control_period=0))


@pytest.fixture(scope="module")
def stimulated(run: Runner) -> Run:
    return run(image(*CHURN, stimulus_period=5003, control_period=7919))


def test_records_come_in_order(odd: Run) -> None:
    kinds = [type(record) for record in odd.log.records]
    operations = [MarkRecord, *[OperationRecord] * 5, MarkRecord, *[OperationRecord] * 2]
    calibration = [*[CalibrationRecord] * 2 * CALIBRATION, *[CostRecord] * 3, TickRecord]
    assert kinds == [
        *(Boot, Proof, PlanRecord, *calibration, *operations),
        *(*calibration, StillRecord, StatRecord, HeapRecord, EndRecord),
    ]
    assert odd.log.all(MarkRecord) == (MarkRecord(41), MarkRecord(42))
    assert odd.only(EndRecord).operations == 7


def test_outcomes_and_account(odd: Run) -> None:
    operations = odd.operations
    assert [record.seq for record in operations] == list(range(7))
    assert [record.kind for record in operations] == OUTCOMES
    assert [record.size for record in operations] == [70_000, 70_000, 100, 100, 100, 24, 0]
    nothing = operations[1]
    assert (nothing.critical_cycles, nothing.operation_cycles, nothing.probes) == (0, 0, 0)
    assert [record.live for record in operations] == [0, 0, 1, 0, 0, 1, 1]
    assert operations[2].bytes_in_use >= 100


def test_frames_are_64_edges_of_hardware(odd: Run) -> None:
    sync = odd.edges["SYNC"]
    assert spacings(sync[:FRAME_EDGES]) == {840}
    assert spacings(sync[-FRAME_EDGES:]) == {1260}
    assert [sync[0][1], sync[FRAME_EDGES - 1][1]] == [1, 0]
    assert [sync[-FRAME_EDGES][1], sync[-1][1]] == [1, 0]
    assert sync[-FRAME_EDGES][0] - sync[-FRAME_EDGES - 1][0] > 4200


def test_common_pulses_leave_each_port_by_one_store(stimulated: Run) -> None:
    for end in (0, 1):
        pulses = {name: stimulated.outside(name)[end][-COMMON:] for name in COMMON_CHANNELS}
        for name in ("CRIT", "OP", "ISR", "CTRL"):
            assert pulses[name] == pulses["STIM"]
        assert pulses["TASK"] == pulses["CISR"]
        gaps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(pulses["STIM"], pulses["TASK"], strict=True)]
        assert gaps[0::2] == [gaps[0]] * 4 and gaps[0][0] == gaps[0][1] > 0
        assert gaps[1::2] == [(-gaps[0][0], -gaps[0][1])] * 4


MARKED = [("CRIT", "critical_cycles"), ("OP", "operation_cycles")]


@pytest.mark.parametrize(("channel", "field"), MARKED)
def test_wire_and_counter_differ_by_one_constant(stimulated: Run, channel: str, field: str) -> None:
    assert_one_constant(stimulated, channel, field)


def assert_one_constant(run: Run, channel: str, field: str) -> None:
    pulses = run.within(channel) + run.outside(channel)[1][:CALIBRATION]
    calibration = [record.dwt_cycles for record in run.calibration(channel)]
    operations = [getattr(record, field) for record in run.operations]
    counted = [*calibration[:CALIBRATION], *operations, *calibration[CALIBRATION:]]
    differences = {fall - rise - cycles for (rise, fall), cycles in zip(pulses, counted, strict=True)}
    assert len(calibration) == 2 * CALIBRATION
    assert len(differences) == 1


def test_stimuli_are_periodic_and_all_answered(stimulated: Run) -> None:
    assert spacings(stimulated.stimuli("STIM")) == {5003}
    assert spacings(stimulated.stimuli("CTRL")) == {7919}
    assert_all_answered(stimulated)
    stat = stimulated.only(StatRecord)
    assert stat.control_entries == len(stimulated.stimuli("CTRL")) == len(stimulated.within("CISR"))
    inside = sum(
        rise < answer < fall
        for rise, fall in stimulated.within("OP")
        for answer, _ in stimulated.within("ISR")
    )
    assert stat.preempted_operations == inside > 0


def assert_all_answered(run: Run) -> None:
    stat = run.only(StatRecord)
    assert stat.isr_entries == len(run.stimuli("STIM")) == len(run.within("ISR"))
    assert stat.task_wakes == stat.isr_entries == len(run.within("TASK"))


def test_critical_section_masks_the_stimulus_and_never_the_control(stimulated: Run) -> None:
    if stimulated.only(Boot).locking != "basepri":
        pytest.skip("the allocator does not work under BASEPRI")
    critical = stimulated.within("CRIT")[CALIBRATION:]
    for channel in ("ISR", "TASK"):
        rises = [rise for rise, _ in stimulated.within(channel)]
        assert not [rise for rise in rises if any(begin < rise < end for begin, end in critical)]
    control = [rise for rise, _ in stimulated.within("CISR")]
    assert [rise for rise in control if any(begin < rise < end for begin, end in critical)]


def test_bad_image_is_refused_before_anything_moves(run: Runner) -> None:
    refused = run(image(*ODD, version=2))
    assert [type(record) for record in refused.log.records] == [Boot, Proof, FailRecord]
    assert refused.only(FailRecord) == FailRecord("version", 2)
    assert not any(refused.edges.values())


def senseless(random: Random) -> tuple[bytes, ...]:
    """What no compiler of scenarios writes: slots in use, blocks freed twice, impossible sizes."""
    sizes = (0, 1, 7, 24, 500, 3_000, 30_000, 65_000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)
    rows = []
    for _ in range(150):
        slot = random.randrange(8)
        allocate = entry(ALLOCATE, slot, random.choice(sizes), align=random.choice((0, 0, 0, 3, 6, 12, 31)))
        rows.append(random.choice((allocate, allocate, entry(FREE, slot, 0))))
    return tuple(rows)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_an_image_asks_for_the_run_ends_in_order(run: Runner, seed: int) -> None:
    wrong = senseless(Random(seed))
    done = run(image(*wrong, slots=8, stimulus_period=2000, control_period=1000))
    assert done.only(EndRecord).operations == len(wrong)
    assert not done.log.all(FailRecord)
    assert done.only(HeapRecord).invariants_hold == 1
    assert {record.kind for record in done.operations} == {"A", "O", "F", "N", "E"}
