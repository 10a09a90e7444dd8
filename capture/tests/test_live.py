"""What a run has shown so far, counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from base.run_folder.folder import RunName
from base.run_folder.progress_file import ProgressFile, Section, SoFar, read
from base.run_folder.records import encode
from capture.acquisition.live import Counted, Part, Sources, Watch, Work

BOOT = encode("BOOT,7,tlsf,65536,84000000,00000705,V11,1,65528,basepri,none,bypass,04000000,nucleo-f401re")
# seq, kind, size, cycles of the critical section
ALLOCATED = encode("OP,0,A,24,168,300,1,1,32")
UNMEASURED = encode("OP,1,A,24,9999,9999,1,2,64")
REFUSED = encode("OP,2,O,4096,252,300,1,2,64")
FREED = encode("OP,3,F,0,84,300,1,1,32")
MEASURED = frozenset({0, 2, 3})


def test_the_longest_sections_are_those_of_the_measured_operations() -> None:
    counted = Counted(MEASURED)
    counted.take(BOOT + ALLOCATED + UNMEASURED + REFUSED + FREED, 1.0)
    assert counted.operations == 4
    # 252 and 84 cycles at 84 MHz
    assert counted.critical == Section(seq=2, size=4096, cycles=252, ns=3000.0)
    assert counted.free == Section(seq=3, size=0, cycles=84, ns=1000.0)


def test_lines_may_come_in_pieces_and_damaged() -> None:
    whole = BOOT + ALLOCATED.replace(b"168", b"999") + b"\xff\n" + REFUSED + FREED
    counted = Counted(MEASURED)
    for at in range(len(whole)):
        counted.take(whole[at : at + 1], float(at))
    assert counted.operations == 2
    assert counted.critical and counted.critical.cycles == 252


def test_callback_and_file_tell_the_same(tmp_path: Path) -> None:
    reports: list[tuple[SoFar, SoFar | None]] = []
    steps: list[str] = []
    received = bytearray()
    with ProgressFile(tmp_path) as file:
        watch = Watch(
            RunName("mem_frag", "tlsf", "virtual"),
            datetime(2026, 11, 22, tzinfo=UTC),
            file,
            steps.append,
            lambda so_far: reports.append((so_far, read(tmp_path))),
            Part(2, 4),
            Work(4, MEASURED),
        )
        watch.step("capturing")
        with watch.following(Sources(lambda begin: bytes(received[begin:]), lambda: 840, 1680)):
            received += BOOT + ALLOCATED + FREED
        watch.step("judging")
    assert steps == ["capturing", "judging"]
    assert all(callback == stored for callback, stored in reports)
    first, last = reports[0][0], reports[-1][0]
    assert (first.operations, first.samples, first.critical) == (0, None, None)
    assert (last.step, last.run, last.runs) == ("judging", 2, 4)
    assert (last.operations, last.planned_operations) == (2, 4)
    assert (last.samples, last.asked_samples) == (840, 1680)
    assert last.critical and last.critical.cycles == 168
    assert last.free and last.free.cycles == 84
