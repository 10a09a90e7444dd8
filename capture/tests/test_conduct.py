"""Conducting a run, whatever its source: what is told, kept, removed and raised."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from base.files.errors import CaptureError
from base.files.whole import WriteError
from base.processes import signals
from base.run_folder.folder import RunName
from base.run_folder.observed import Asked
from base.run_folder.progress_file import Section, SoFar, progress_file, read
from base.run_folder.records import encode
from capture.acquisition.live import Counted, Part, Request, Sources, Watch
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, Opened
from capture.conduct import redecode, run
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.tests.test_redecode import ASKED, SETTING, observation_of

MADE_UP = SyntheticRun(small_plan(depth=3))
OF_OPERATIONS = {
    *("operations.bin", "plan.parquet", "uart.log", "edges.parquet", "capture.sr"),
    *("operations.parquet", "interrupts.parquet", "run.json"),
}


@dataclass
class Fake:
    """A source that has its observation at hand, and does `meanwhile` while it observes."""

    request: Request
    account: Account | Asked
    seen: Observation
    meanwhile: Callable[[Path], None] = lambda _: None
    copied: bool = True
    refusal: str = ""
    open_now: bool = False
    name = RunName("mem_frag", "tlsf", "nucleo", ("art off",))

    def check(self) -> None:
        if self.refusal:
            raise CaptureError(self.refusal)

    @contextmanager
    def open(self) -> Iterator[Opened]:
        self.open_now = True
        try:
            yield Opened(self.account, self._observe)
        finally:
            self.open_now = False

    def _observe(self, folder: Path, watch: Watch) -> Observation:
        assert self.open_now
        watch.step("capturing")
        self.meanwhile(folder)
        return self.seen


def fake(runs: Path, meanwhile: Callable[[Path], None] = lambda _: None) -> Fake:
    return Fake(
        Request(runs=runs),
        Account(**vars(SETTING), plan=MADE_UP.plan, asked=ASKED),
        observation_of(MADE_UP),
        meanwhile,
    )


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_came_is_kept_judged_and_stored(tmp_path: Path) -> None:
    result = run(fake(tmp_path))
    assert (result.verdict, result.reasons) == ("complete", ())
    assert files(result.folder) == OF_OPERATIONS
    assert result.folder.name.endswith("Z-mem_frag-tlsf.art_off-nucleo")


@pytest.mark.parametrize("error", [CaptureError("Nothing came; check the cable."), signals.Stopped(2)])
def test_what_cannot_be_observed_leaves_no_folder(tmp_path: Path, error: Exception) -> None:
    def fails(_: Path) -> None:
        raise error

    source = fake(tmp_path, fails)
    with pytest.raises(type(error)):
        run(source)
    assert not list(tmp_path.iterdir()) and not source.open_now


def test_its_steps_are_told_and_who_looks_sees_it_under_way(tmp_path: Path) -> None:
    steps: list[str] = []
    live: list[SoFar] = []
    looked: list[SoFar | None] = []
    source = fake(tmp_path, lambda folder: looked.append(read(folder)))
    source.request = Request(runs=tmp_path, progress=steps.append, live=live.append, part=Part(2, 3))
    folder = run(source).folder
    assert steps == ["capturing", "writing", "judging"] == list(dict.fromkeys(so_far.step for so_far in live))
    (so_far,) = looked
    assert so_far is not None and (so_far.run, so_far.runs, so_far.step) == (2, 3, "capturing")
    assert so_far.planned_operations == MADE_UP.plan.operations.height
    assert read(folder) is None


def test_where_the_findings_do_not_fit_the_capture_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as filled:
        filled.setattr("capture.conduct.write_table", full)
        with pytest.raises(
            WriteError, match=r"disk is full.* The capture is kept: \./lab redecode "
        ) as refusal:
            run(fake(tmp_path))
    (folder,) = tmp_path.iterdir()
    assert str(refusal.value).endswith(str(folder))
    assert redecode(folder).verdict == "inconclusive", "nobody knows what the tools said"


# What a run has shown so far, counted by hand.


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
    assert counted.longest == {
        "critical": Section(seq=2, size=4096, cycles=252, ns=3000.0),
        "free": Section(seq=3, size=0, cycles=84, ns=1000.0),
    }


def test_lines_may_come_in_pieces_and_damaged() -> None:
    whole = BOOT + ALLOCATED.replace(b"168", b"999") + b"\xff\n" + REFUSED + FREED
    counted = Counted(MEASURED)
    for at in range(len(whole)):
        counted.take(whole[at : at + 1], float(at))
    assert counted.operations == 2
    assert counted.longest["critical"] and counted.longest["critical"].cycles == 252


def test_callback_and_file_tell_the_same(tmp_path: Path) -> None:
    reports: list[tuple[SoFar, SoFar | None]] = []
    steps: list[str] = []
    received = bytearray()
    with progress_file(tmp_path) as write:
        watch = Watch(
            RunName("mem_frag", "tlsf", "virtual"),
            datetime(2026, 11, 22, tzinfo=UTC),
            write,
            Request(
                progress=steps.append,
                live=lambda so_far: reports.append((so_far, read(tmp_path))),
                part=Part(2, 4, 30.0),
            ),
            pl.DataFrame({"seq": range(4), "measured": [seq in MEASURED for seq in range(4)]}),
        )
        watch.step("capturing")
        with watch.following(Sources(lambda begin: bytes(received[begin:]), lambda: 840, 1680)):
            received += BOOT + ALLOCATED + FREED
        watch.step("judging")
    assert steps == ["capturing", "judging"]
    assert all(callback == stored for callback, stored in reports)
    first, last = reports[0][0], reports[-1][0]
    assert (first.operations, first.samples, first.critical) == (0, None, None)
    assert (last.step, last.run, last.runs, last.left_s) == ("judging", 2, 4, 30.0)
    assert (last.operations, last.planned_operations) == (2, 4)
    assert (last.samples, last.asked_samples) == (840, 1680)
    assert last.critical and last.critical.cycles == 168
    assert last.free and last.free.cycles == 84
