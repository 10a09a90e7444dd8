"""A run's distributions as files for HdrHistogram's tools (base/metrology/quantiles.py)."""

from __future__ import annotations

from pathlib import Path

from base.files.whole import write_bytes
from base.metrology.quantiles import percentile_distribution
from dashboards.loaded.quantities import ALL, samples
from dashboards.loaded.runs import load_run


def write(run: Path, folder: Path) -> list[Path]:
    """Write `<key>.hgrm` to `folder` for each quantity that has samples; return the files.

    The files of a run that is not complete have its verdict in their names. Raises RunError,
    WriteError.
    """
    loaded = load_run(run)
    verdict = "" if loaded.manifest.complete else f"-{loaded.manifest.verdict}"
    texts = {
        folder / f"{quantity.key}{verdict}.hgrm": percentile_distribution(rows[quantity.column].to_numpy())
        for quantity in ALL
        if len(rows := samples(loaded, quantity))
    }
    return [write_bytes(path, text.encode("ascii")) for path, text in texts.items()]
