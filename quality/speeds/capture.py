"""How fast edges are found and stored, beside how fast sigrok-cli delivers the same samples.

Each repeat measures both, one right after the other: the speed of a shared host changes by the
second. sigrok-cli reads the samples from a file, faster than any analyzer sends them.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from base.files.errors import TailscopeError
from base.run_folder.edge_stream import EdgeWriter
from base.run_folder.edges import CHANNELS, MOST_EDGES, EdgeExtractor
from capture.acquisition.keeper import EdgeStore
from capture.acquisition.sigrok_cli import READ_BYTES, find_tool


class BenchmarkError(TailscopeError):
    """The speed cannot be measured. The message says why and what to do."""


SPACINGS = (1, 2, 4, 8, 13, 32, 128, 1024, 65_536)
"""Samples from one edge to the next, on average."""
MOST_SAMPLES = 1 << 25
PIECE_BYTES = 1 << 20
SAMPLERATE_HZ = 24_000_000
REPEATS = 5


@dataclass(frozen=True)
class Speed:
    """Medians, in samples per second, and of the ratios of each repeat.

    `found` is the speed of what the bench does with the samples, `delivered` that of sigrok-cli.
    """

    spacing_samples: int
    found: float
    delivered: float
    ratio: float


def measure(repeats: int = REPEATS) -> list[Speed]:
    """The speeds at each of SPACINGS.

    Raises CaptureError without sigrok-cli, and BenchmarkError where it does not deliver.
    """
    with tempfile.TemporaryDirectory() as folder:
        return [_at(spacing, repeats, Path(folder)) for spacing in SPACINGS]


def as_text(speeds: list[Speed]) -> str:
    """A line for each spacing, in gigasamples per second."""
    lines = [
        f"{of.spacing_samples:>12,}{of.found / 1e9:>9.2f}{of.delivered / 1e9:>12.2f}{of.ratio:>9.2f}"
        for of in speeds
    ]
    return "\n".join(("edge every n    found  sigrok-cli    ratio", *lines))


def _at(spacing: int, repeats: int, folder: Path) -> Speed:
    samples = _samples(spacing)
    file = folder / "samples"
    file.write_bytes(samples)
    count = len(samples)
    pairs = [
        (count / _finding_s(samples, folder), count / _delivering_s(file, count)) for _ in range(repeats)
    ]
    return Speed(
        spacing_samples=spacing,
        found=median(ours for ours, _ in pairs),
        delivered=median(delivered for _, delivered in pairs),
        ratio=median(ours / delivered for ours, delivered in pairs),
    )


def _samples(spacing: int) -> bytes:
    """Stretches of one level, of 1 to twice `spacing` less one samples.

    There are about as many edges as a capture may have, or fewer.
    """
    count = min(MOST_SAMPLES, spacing * MOST_EDGES)
    random = np.random.default_rng(spacing)
    lengths = random.integers(1, 2 * spacing, 2 * count // spacing + 1)
    levels = np.cumsum(random.integers(1, 256, len(lengths))).astype(np.uint8)
    return np.repeat(levels, lengths)[:count].tobytes()


def _finding_s(samples: bytes, folder: Path) -> float:
    """The seconds to find the edges and to add them to a file in blocks."""
    path = folder / "edges.stream"
    path.unlink(missing_ok=True)
    pieces = memoryview(samples)
    extractor = EdgeExtractor(SAMPLERATE_HZ, most_edges=len(samples))
    with EdgeStore(extractor, EdgeWriter(path, SAMPLERATE_HZ, CHANNELS, len(samples))) as store:
        began_s = time.perf_counter()
        for start in range(0, len(samples), READ_BYTES):
            store.feed(pieces[start : start + READ_BYTES])
        store.flush()
        return time.perf_counter() - began_s


def _delivering_s(file: Path, count: int) -> float:
    """The seconds that sigrok-cli delivers, from its first byte on, to a reader that drops all."""
    form = f"binary:numchannels={len(CHANNELS)}:samplerate={SAMPLERATE_HZ}"
    command = [find_tool(), "-I", form, "-i", str(file), "-O", "binary"]
    block, received, began_s = bytearray(PIECE_BYTES), 0, 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, pipesize=PIECE_BYTES) as process:
        assert process.stdout is not None
        while size := os.readv(process.stdout.fileno(), [block]):
            began_s = began_s or time.perf_counter()
            received += size
        took_s = time.perf_counter() - began_s
    if received < count:
        raise BenchmarkError(f"sigrok-cli delivered {received} of {count} samples of a file; reinstall it.")
    return took_s
