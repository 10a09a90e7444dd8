"""A run's distributions as files for HdrHistogram's tools (analysis/metrology/histogram.py)."""

from __future__ import annotations

from pathlib import Path

from analysis.metrology.histogram import percentile_distribution
from capture.files.whole import write_bytes
from dashboards.quantities import ALL, samples
from dashboards.runs import load_run


def write(run: Path, folder: Path) -> list[Path]:
    """Writes `<key>.hgrm` to `folder` for each quantity that has samples. Raises RunError, WriteError.

    A run that is not complete carries its verdict in the names of its files.
    """
    loaded = load_run(run)
    verdict = "" if loaded.manifest.complete else f"-{loaded.manifest.verdict}"
    texts = {
        folder / f"{quantity.key}{verdict}.hgrm": percentile_distribution(rows[quantity.column].to_numpy())
        for quantity in ALL
        if len(rows := samples(loaded, quantity))
    }
    return [write_bytes(path, text.encode("ascii")) for path, text in texts.items()]
