"""The extreme-value estimate of one run's quantity, in words: behind its tests, and never a headline."""

from __future__ import annotations

from pathlib import Path

from analysis.metrology.extremes import CONFIDENCE, Estimate, Fit, estimate
from capture.files.errors import RunError
from dashboards.quantities import ALL, samples
from dashboards.runs import load_run


def as_text(folder: Path, key: str) -> str:
    """What the run's samples of `key` allow to say of values beyond the greatest. Raises RunError."""
    run = load_run(folder)
    chosen = next((quantity for quantity in ALL if quantity.key == key), None)
    if chosen is None:
        raise RunError(f"There is no quantity {key!r}; choose from {', '.join(q.key for q in ALL)}.")
    if not run.manifest.complete:
        raise RunError(f"{run.id} is {run.manifest.verdict}; an estimate needs a run that is complete.")
    values = samples(run, chosen)[chosen.column].to_numpy()
    found = estimate(values, ramp=run.manifest.ramp)
    greatest = f"{values.max():,.1f}" if len(values) else "none"
    head = f"{chosen.words} of {run.id}: n = {len(values):,}, greatest {greatest} {chosen.unit}"
    return "\n".join([head, *_words(found, chosen.unit)])


def _words(found: Estimate, unit: str) -> list[str]:
    tests = [f"{test.name}: statistic {test.statistic:.4g}, p = {test.p:.3g}" for test in found.tests]
    if found.refused is not None:
        return [*tests, f"No estimate. {found.refused}"]
    lines = [line for fit in found.fits for line in _fit(fit, unit)]
    return [*tests, *lines, "An estimate from a model: no bound, and nothing that was seen."]


def _fit(fit: Fit, unit: str) -> list[str]:
    """Shape, location and scale, then a line for each level with its interval."""
    head = (
        f"{fit.method}: {fit.points} points, shape {fit.shape:.3f}, location {fit.location:,.1f}, "
        f"scale {fit.scale:,.1f}, p of the fit {fit.p:.3g}"
    )
    levels = [
        f"  exceeded once in {1 / exceedance:,.0f}: {level:,.1f} {unit} "
        f"[{low:,.1f}, {high:,.1f}] at {100 * CONFIDENCE:.0f} %"
        for exceedance, (level, low, high) in fit.levels.items()
    ]
    return [head, *levels]
