"""A campaign of any size: what is done is recognized, what is held bounded, a task long enough."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from analysis.campaign import conduct, matrix, order
from analysis.campaign.cluster import MOST_RUNS, TASK_S, Job, Lost, runs_of_a_task
from analysis.campaign.order import Needs, Orders, ShippedImage
from analysis.campaign.store import Store
from analysis.campaign.tests.made import Inline, outcome
from analysis.campaign.work import Outcome
from base.paths import ROOT
from firmware.build.image import Configuration

SCENARIO = """
name = "small"
description = "A few operations."
generator = "mem_frag"

[parameters]
depth = {depth}
trials = 1
"""


class Images:
    """Stands in for the build: an image whose content can be changed."""

    def __init__(self) -> None:
        self.content = b"one"

    def shipped(self, needs: Needs) -> ShippedImage:
        built = Configuration(needs.heap_bytes, "", 0, "basepri", {})
        return ShippedImage("", self.content, b"", needs.allocator, built, ())


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Images:
    found = Images()
    for room in (order, conduct):
        monkeypatch.setattr(room, "shipped", found.shipped)
    return found


def made(job_order: order.Order, _image: ShippedImage, _scratch: Path) -> Outcome:
    return outcome(job_order.key)


def asked(folder: Path, rates: int = 4, depth: int = 2) -> matrix.Matrix:
    template = (ROOT / "scenarios" / "mem_frag.toml").read_text(encoding="utf-8")
    head, _, stimulus = template.partition("[stimulus]")
    (folder / "small.toml").write_text(
        head.replace('name = "mem_frag"', f'name = "small{depth}"') + "[stimulus]" + stimulus,
        encoding="utf-8",
    )
    listed = ", ".join(str(1_000_000 + number) for number in range(rates))
    words = f'scenarios = ["small.toml"]\nallocators = ["tlsf"]\nsamplerate = [{listed}]\n'
    (folder / "matrix.toml").write_text(
        words + f"parameters = [{{ depth = {depth}, trials = 1 }}]\n", encoding="utf-8"
    )
    return matrix.read(folder / "matrix.toml")


def conducted(found: matrix.Matrix, folder: Path, workers: Inline) -> conduct.Course:
    store = Store(folder)
    with store.writing():
        return conduct.run(found, store, workers, found.count(), lambda _: None)


@contextmanager
def no_plan_compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(_self: Orders, point: matrix.Point) -> None:
        raise AssertionError(f"{point.title} was compiled")

    with monkeypatch.context() as patch:
        patch.setattr(Orders, "make", refuse)
        yield


def test_what_is_done_is_recognized_without_its_plan(
    tmp_path: Path, images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    del images
    workers = Inline(tmp_path, made)
    assert conducted(asked(tmp_path), tmp_path / "out", workers).settled == 4
    with no_plan_compiled(monkeypatch):
        assert conducted(asked(tmp_path), tmp_path / "out", workers).settled == 4
    assert len(workers.attempts) == 4


def test_another_image_scenario_or_bench_is_another_run(
    tmp_path: Path, images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Inline(tmp_path, made)
    conducted(asked(tmp_path), tmp_path / "out", workers)
    images.content = b"two"
    conducted(asked(tmp_path), tmp_path / "out", workers)
    assert len(workers.attempts) == 8
    conducted(asked(tmp_path, depth=3), tmp_path / "out", workers)
    assert len(workers.attempts) == 12
    for room in (order, conduct):
        monkeypatch.setattr(room, "digest", lambda: "other sources")
    conducted(asked(tmp_path, depth=3), tmp_path / "out", workers)
    assert len({key for key, _ in workers.attempts}) == len(workers.attempts) == 16


def test_what_a_campaign_holds_does_not_grow_with_it(tmp_path: Path, images: Images) -> None:
    """Of 600 runs no more is held at a time than of 100."""
    del images
    peaks = []
    for rates in (100, 600):
        found = asked(tmp_path, rates)
        tracemalloc.start()
        conducted(found, tmp_path / str(rates), Inline(tmp_path, made))
        conducted(found, tmp_path / str(rates), Inline(tmp_path, made))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 500 * 100, peaks


class InTasks(Inline):
    """Takes three runs a task, and loses each that has more than one."""

    def room(self) -> int:
        return 3 * (not self._waiting)

    def submit(self, jobs: list[Job]) -> None:  # type: ignore[override]
        super().submit(jobs)
        self.lost = [job.order for job in jobs] if len(jobs) > 1 else []

    def next(self, within_s: float) -> list[Outcome | Lost]:
        if not self.lost:
            return super().next(within_s)
        self._waiting.clear()
        lost, self.lost = self.lost, []
        return [Lost(each, "the worker burnt down") for each in lost]


def test_of_a_task_that_is_lost_each_run_is_tried_again_alone(tmp_path: Path, images: Images) -> None:
    del images
    workers = InTasks(tmp_path, made)
    course = conducted(asked(tmp_path), tmp_path / "out", workers)
    assert (course.settled, course.incomplete) == (4, 0)
    assert sorted(attempt for _, attempt in workers.attempts) == [1, 1, 1, 1, 2, 2, 2]


def test_a_task_has_as_many_runs_as_the_scheduler_needs() -> None:
    assert runs_of_a_task(2, 0.3) == runs_of_a_task(1000, None) == 1
    assert runs_of_a_task(10_000, 0.3) == MOST_RUNS
    for workers in (10, 100, 1000):
        runs = runs_of_a_task(workers, 0.3)
        assert workers / (runs * 0.3) * TASK_S <= 0.25
        assert runs == 1 or workers / ((runs - 1) * 0.3) * TASK_S > 0.25
