"""Samples on their way to the disk: their edges are found, and added to a file in blocks."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol, Self

from base.files.errors import CaptureError
from base.run_folder.edges import Samples, Words
from base.run_folder.extract import EdgeExtractor

# Edges go to the disk after so many rows, and at the latest after so long. Both bound what a bench
# that is killed loses, and the second what one sees of a capture under way; the first bounds the
# memory, too.
_BLOCK_ROWS = 1 << 16
_BLOCK_S = 0.4


class Sink(Protocol):
    """Where the edges go: a file (EdgeWriter), or what keeps windows of them (Keeper)."""

    def append(self, sample: Samples, word: Words, total_samples: int) -> None: ...

    def check_room(self) -> None: ...

    def close(self) -> None: ...


class EdgeStore:
    """Takes samples as they come: a context manager that holds `writer`.

    Raises WriteError, and CaptureError as the extractor does.
    """

    def __init__(self, extractor: EdgeExtractor, writer: Sink) -> None:
        self._extractor = extractor
        self._writer = writer
        self._stored_samples = 0
        self._stored_s = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    @property
    def total_samples(self) -> int:
        """Samples taken so far."""
        return self._extractor.total_samples

    def feed(self, samples: memoryview) -> None:
        """Takes the next samples, one byte each; none if only time has passed."""
        if samples:
            try:
                self._extractor.feed(samples)
            except CaptureError:
                self.flush()
                raise
        late = time.monotonic() - self._stored_s >= _BLOCK_S
        if late or self._extractor.rows_held >= _BLOCK_ROWS:
            self.flush()
            self._writer.check_room()

    def flush(self) -> None:
        """Adds a block with what came since the last one, if anything did."""
        self._stored_s = time.monotonic()
        if self.total_samples > self._stored_samples:
            self._writer.append(*self._extractor.take(), self.total_samples)
            self._stored_samples = self.total_samples
