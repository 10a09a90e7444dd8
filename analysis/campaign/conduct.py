"""Conducts a campaign: hands out what is not done yet, and stores what comes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from analysis.campaign.cluster import Job, Lost, Workers
from analysis.campaign.journal import Recognized
from analysis.campaign.matrix import Matrix, Point
from analysis.campaign.order import (
    RECORDS,
    Needs,
    Order,
    Orders,
    ShippedImage,
    board,
    digest,
    key_without_run,
    samplerate_hz,
    shipped,
)
from analysis.campaign.rows import DIFFERS, failed_row
from analysis.campaign.store import Store
from analysis.campaign.work import Outcome, Sample
from base.files.errors import TailscopeError
from base.processes import signals
from capture.acquisition import direct
from firmware.build import region
from scenarios.plan import Plan


class Wishes:
    """The wishes of a matrix. It reads the matrix's scenarios once."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._scenarios: dict[tuple[str, str, int | None, str], tuple[str, int]] = {}

    def of(self, point: Point) -> bytes:
        """The digest of a wish. Raises TailscopeError where the scenario cannot be read."""
        scenario, _ = self._scenario(point)
        return hashlib.sha256("\0".join((scenario, repr(point))).encode()).digest()

    def image(self, point: Point, found: Recognized) -> ShippedImage | None:
        """The image of a wish; None if it is not the one that it was. Raises TailscopeError."""
        _, heap_bytes = self._scenario(point)
        image = shipped(Needs.with_extras(point, found.extras, heap_bytes))
        return image if identity(image) == found.image else None

    def _scenario(self, point: Point) -> tuple[str, int]:
        """What all seeds share, as text: all that decides their plans and runs; and the heap."""
        name = (point.scenario, repr(point.parameters), point.heap_bytes, point.board)
        if name not in self._scenarios:
            scenario, on = self._matrix.scenario(replace(point, seed=None)), board(point.board)
            heap_bytes = scenario.heap_on(region.place(on.board))
            decided = {
                "name": scenario.name,
                "generator": type(scenario.generator).__qualname__,
                "parameters": asdict(scenario.generator),
                "origin": scenario.generator.origin(),
                "stimulus": asdict(scenario.stimulus),
                "heap_bytes": heap_bytes,
                "board": str(on),
                "records": RECORDS,
                "capture": self._matrix.capture,
                "bench": digest(),
            }
            self._scenarios[name] = json.dumps(decided, sort_keys=True), heap_bytes
        return self._scenarios[name]


def recognized(order: Order, image: ShippedImage) -> Recognized:
    """The key and the image that the wish of an order came to."""
    return Recognized(order.key, order.plan.extras, identity(image))


def identity(image: ShippedImage) -> bytes:
    """The digest of everything that a key says of an image."""
    return hashlib.sha256(f"{image.digest}{image.looks}{bool(image.replayer.program)}".encode()).digest()


_PATIENCE_S = 0.2


@dataclass
class Course:
    """How far a campaign is. `worst` is the row with the longest critical section that came.

    `differs` is that of a direct run that is not what the real tools bring: it ends the campaign.
    """

    points: int
    settled: int = 0
    done_now: int = 0
    incomplete: int = 0
    worst: dict[str, Any] | None = None
    differs: dict[str, Any] | None = None
    began_s: float = 0.0

    @property
    def per_minute(self) -> float | None:
        """Runs a minute since this command began to hand them out; None before the first."""
        taken_s = time.monotonic() - self.began_s
        return self.done_now / taken_s * 60 if self.done_now and taken_s > 0 else None

    @property
    def left_s(self) -> float | None:
        """About how long it will still take."""
        rate = self.per_minute
        return (self.points - self.settled) / rate * 60 if rate else None

    def take(self, row: dict[str, Any]) -> None:
        """A run is settled."""
        self.settled += 1
        self.done_now += 1
        self.incomplete += row["verdict"] != "complete"
        longest = row.get("critical_ns_max")
        if longest is not None and (self.worst is None or longest > self.worst["critical_ns_max"]):
            self.worst = row


OnCourse = Callable[[Course], None]
Refuse = Callable[[Plan, str, str], object]


def check(matrix: Matrix, refuse: Refuse, tell: Callable[[str], None]) -> Matrix:
    """Builds all images before the first run, and tries the first seed of each scenario.

    Returns the matrix; of one that asks for all allocators without those that cannot run all of
    its scenarios. `refuse` raises TailscopeError for an allocator that cannot run a plan on a
    board. Raises CampaignError for whatever else cannot be run, with its line.
    """
    orders = Orders(matrix)
    tried: set[tuple[Any, ...]] = set()
    unfit: set[str] = set()
    for point in matrix.points():
        choice = (
            *(point.scenario, str(point.parameters), point.heap_bytes, point.board),
            *(point.allocator, point.locking, point.art, str(point.knobs), point.samplerate, point.placement),
        )
        if choice in tried or point.allocator in unfit:
            continue
        tried.add(choice)
        signals.check()
        try:
            on = board(point.board)
            if matrix.capture == "direct":
                direct.check(on, RECORDS)
            on.analyzer.check_rate(samplerate_hz(point))
            plan = orders.plan(point)
            if (objection := _objection(refuse, plan, point)) is not None:
                if not matrix.takes_all:
                    raise objection
                unfit.add(point.allocator)
                continue
            tell(f"building firmware with {point.allocator} for {point.board}")
            shipped(Needs.of(point, plan))
        except TailscopeError as error:
            raise matrix.refusal(point, error) from None
    return matrix.without(unfit)


def _objection(refuse: Refuse, plan: Plan, point: Point) -> TailscopeError | None:
    try:
        refuse(plan, point.allocator, point.board)
    except TailscopeError as error:
        return error
    return None


def run(matrix: Matrix, store: Store, workers: Workers, points: int, tell: OnCourse) -> Course:
    """Runs what is not settled, or as much until a difference shows. To be called within
    store.writing() and signals.orderly().

    A signal raises signals.Stopped; what was done is stored. Raises CampaignError where the workers
    are gone.
    """
    course = _Conductor(matrix, store, workers, points, tell).run()
    if course.differs is None:
        store.end()
    return course


class _Conductor:
    def __init__(self, matrix: Matrix, store: Store, workers: Workers, points: int, tell: OnCourse) -> None:
        self._orders = Orders(matrix)
        self._wishes = Wishes(matrix)
        self._sample = Sample(matrix.verify)
        self._waiting = matrix.points()
        self._store = store
        self._workers = workers
        self._tell = tell
        self._course = Course(points, began_s=time.monotonic())
        self._out: dict[str, tuple[Order, ShippedImage]] = {}

    def run(self) -> Course:
        while True:
            self._hand_out()
            if not self._out:
                return self._course
            signals.check()
            came = self._workers.next(_PATIENCE_S)
            signals.check()
            self._take(came)
            self._tell(self._course)
            if self._course.differs is not None:
                return self._course

    def _hand_out(self) -> None:
        while most := self._workers.room():
            orders = list(islice(self._to_be_made(), most))
            if not orders:
                return
            self._submit(orders)

    def _to_be_made(self) -> Iterator[tuple[Order, ShippedImage]]:
        """The orders of the next points that are neither settled nor equal to one under way."""
        for point in self._waiting:
            signals.check()
            self._tell(self._course)
            try:
                found = self._order(point)
            except TailscopeError as error:
                self._give_up(point, str(error))
                continue
            if found is None:
                self._course.settled += 1
            else:
                self._out[found[0].key] = found
                yield found

    def _order(self, point: Point) -> tuple[Order, ShippedImage] | None:
        """None of a run that is not to be made. Raises TailscopeError of one that cannot be."""
        wish = self._wishes.of(point)
        found = self._store.recognized(wish)
        image = None if found is None else self._wishes.image(point, found)
        order = None
        if found is None or image is None:
            order, image = self._orders.make(point)
            found = recognized(order, image)
            self._store.note(wish, found)
        verify = self._sample.takes(found.key, image, samplerate_hz(point), point.placement)
        if self._is_done(found.key, verify):
            return None
        return replace(order or self._orders.make(point)[0], verify=verify), image

    def _is_done(self, key: str, verify: bool) -> bool:
        return key in self._out or self._store.settled(key, verify)

    def _give_up(self, point: Point, why: str) -> None:
        """Stores the failure of a run that cannot even be ordered: trying again would not help."""
        key = key_without_run(point)
        row = failed_row(key, point, why)
        if not self._store.settled(key):
            self._store.add(Outcome(key, row))
        self._course.take(row)

    def _submit(self, orders: Sequence[tuple[Order, ShippedImage]]) -> None:
        jobs = [Job(order, image, self._store.attempts(order.key) + 1) for order, image in orders]
        self._workers.submit(jobs)

    def _take(self, came: Sequence[Outcome | Lost]) -> None:
        """Stores what came. What failed with others in a task is tried again alone."""
        outcomes = [_outcome(one) for one in came]
        if outcomes:
            self._store.add(*outcomes)
        for outcome in outcomes:
            order, image = self._out[outcome.key]
            if outcome.row["state"] == DIFFERS:
                self._course.differs = outcome.row
            elif self._store.settled(outcome.key, order.verify):
                del self._out[outcome.key]
                self._course.take(outcome.row)
            else:
                self._submit([(order, image)])


def _outcome(came: Outcome | Lost) -> Outcome:
    if isinstance(came, Outcome):
        return came
    return Outcome(came.order.key, failed_row(came.order.key, came.order.point, came.why))
