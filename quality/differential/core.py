"""Runs a batch on the simulator's core."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from quality.differential.batches import Batch
from quality.differential.records import RESULT, Results


def run(binary: Path, batch: Batch) -> Results:
    """The results of all cases of a batch. Raises RuntimeError with what the core's side says."""
    sizes = np.array([len(batch.data), len(batch.code)], "<u4").tobytes()
    message = sizes + batch.data + batch.code + batch.cases.tobytes()
    done = subprocess.run([binary, "run"], input=message, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The core's side of the differential test failed: {done.stderr.decode()[-2000:]}")
    return np.frombuffer(done.stdout, RESULT)
