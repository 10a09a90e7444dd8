"""What comes behind a capture, prepared beside it: capture and builds wait for other processes.

Only on the virtual board, which waits for who reads its samples; an analyzer on a desk does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from types import TracebackType

from base.files.errors import TailscopeError
from base.processes import signals
from firmware.build.image import FirmwareImage

MODULES = (
    "analysis.bounds.image",
    "analysis.fragmentation.of_run",
    "analysis.explain.explanation",
    "dashboards.report",
    "dashboards.terminal",
)
OF_DRAWN = "scipy.special"
"""Beside these, where samples are drawn: of those of a ramp nothing is estimated."""


class Ahead:
    """Imports MODULES from its beginning on, and computes what only the images decide, in a thread
    of its own, until its `with` block ends. `drawn` is whether a run has samples that are drawn.

    Libraries with circular imports cannot be imported by two threads at a time: call wait() before
    the first of MODULES is.
    """

    def __init__(self, *, drawn: bool) -> None:
        self._thread = ThreadPoolExecutor(1, "ahead")
        self._loaded = self._thread.submit(_load, [OF_DRAWN, *MODULES] if drawn else MODULES)

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=True)

    def prepare(self, images: Iterable[FirmwareImage]) -> None:
        """Begins to compute the bounds of the images, to build
        their heaps for this machine, and to read their source lines.
        """
        for image in images:
            self._thread.submit(_prepare, image)

    def wait(self) -> None:
        """Returns when the modules are there."""
        self._loaded.result()


def _load(modules: Iterable[str]) -> None:
    for module in modules:
        import_module(module)


def _prepare(image: FirmwareImage) -> None:
    """What is found is remembered. What goes wrong is told where it is needed."""
    from analysis.bounds.image import bounds_of_image
    from analysis.explain.program import Program
    from analysis.fragmentation.of_run import program_of

    with suppress(TailscopeError, signals.Stopped):
        bounds_of_image(image)
        program_of(image)
        program = Program(image.elf)
        _ = program.lines, program.source_files
