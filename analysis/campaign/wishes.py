"""Recognizes a run that was made, without compiling its plan: a million take a minute.

A *wish* is what is asked for before anything is compiled: the settings, what the scenario is
with them, and the sources that make a plan of it. Equal wishes have equal plans. Which image a plan
needs is known of a wish that was met; what the image is, only the image says.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

from analysis.campaign.journal import Recognized
from analysis.campaign.matrix import Matrix, Point
from analysis.campaign.order import RECORDS, Needs, Order, ShippedImage, board, digest, shipped


class Wishes:
    """Those of a matrix. What its scenarios are is read once."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._scenarios: dict[tuple[str, str, int | None], tuple[str, int]] = {}

    def of(self, point: Point) -> bytes:
        """The digest of a wish. Raises TailscopeError where the scenario cannot be read."""
        scenario, _ = self._scenario(point)
        return hashlib.sha256("\0".join((scenario, repr(point))).encode()).digest()

    def image(self, point: Point, found: Recognized) -> ShippedImage | None:
        """The image of a wish; None if it is not the one that it was. Raises TailscopeError."""
        _, heap_bytes = self._scenario(point)
        image = shipped(Needs.with_calls(point, found.kernel_calls, heap_bytes))
        return image if identity(image) == found.image else None

    def _scenario(self, point: Point) -> tuple[str, int]:
        """What is common to all seeds: all that decides their plans and runs, and the heap."""
        name = (point.scenario, repr(point.parameters), point.heap_bytes)
        if name not in self._scenarios:
            scenario = self._matrix.scenario(replace(point, seed=None))
            decided = {
                "name": scenario.name,
                "generator": type(scenario.generator).__qualname__,
                "parameters": asdict(scenario.generator),
                "origin": scenario.generator.origin(),
                "stimulus": asdict(scenario.stimulus),
                "heap_bytes": scenario.heap_bytes,
                "board": str(board()),
                "records": RECORDS,
                "capture": self._matrix.capture,
                "bench": digest(),
            }
            self._scenarios[name] = json.dumps(decided, sort_keys=True), scenario.heap_bytes
        return self._scenarios[name]


def recognized(order: Order, image: ShippedImage) -> Recognized:
    """What the wish of an order came to."""
    return Recognized(order.key, order.plan.calls_kernel, identity(image))


def identity(image: ShippedImage) -> bytes:
    """Of all that a key says of an image."""
    return hashlib.sha256(f"{image.digest}{image.looks}{bool(image.replayer.program)}".encode()).digest()
