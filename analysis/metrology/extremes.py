"""Extreme values: what a longer run might have shown, where the measurements allow to ask.

Two roads (Coles, An Introduction to Statistical Modeling of Extreme Values, 2001, chapters 3 and 4): the
maxima of blocks follow a generalised extreme-value distribution, the excesses over a high threshold a
generalised Pareto distribution. Both presume values that are independent and the same all along, so both
stand behind tests of that, and behind a test of the fit itself. Where one fails there is a sentence and no
number.

The result is an estimate from a model. It is no bound, and never a headline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import cramervonmises, genextreme, genpareto

from analysis.metrology.series import LAGS, Test, halves_alike, ljung_box, mann_kendall

# Of all the tests together: each is held to its share (Bonferroni).
SIGNIFICANCE = 0.05
EXCEEDANCES = (1e-4, 1e-5, 1e-6)
SAMPLES_MIN = 500
BLOCK_VALUES = 20
THRESHOLD_SHARE = 0.9
# A distribution of three parameters through fewer distinct points is a drawing, not a fit.
DISTINCT_MIN = 10
RESAMPLES = 199
CONFIDENCE = 0.95

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, and what lies beyond the last is not an "
    "extreme of the same kind."
)

Floats = npt.NDArray[np.float64]
Level = Callable[[Any, float], float]


@dataclass(frozen=True)
class Fit:
    """One road's outcome: `shape` (positive is heavy-tailed), `location` (of a threshold: the threshold
    itself) and `scale`; for each exceedance probability per sample the level and its interval. `p` is that of
    the fit.
    """

    method: str
    points: int
    shape: float
    location: float
    scale: float
    p: float
    levels: dict[float, tuple[float, float, float]]


@dataclass(frozen=True)
class Estimate:
    """`refused` is a sentence where there is no estimate, and then `fits` is empty."""

    tests: tuple[Test, ...]
    fits: tuple[Fit, ...]
    refused: str | None


def estimate(values: npt.ArrayLike, ramp: bool, resamples: int = RESAMPLES) -> Estimate:
    """Estimates from `values` in the order of time; `ramp` where a scenario changes what it measures by
    design.
    """
    series = np.asarray(values, dtype=np.float64)
    if ramp:
        return _refusal((), RAMP)
    if len(series) < SAMPLES_MIN:
        return _refusal((), f"{len(series)} samples are too few, {SAMPLES_MIN} are needed; run longer.")
    tests = (mann_kendall(series), halves_alike(series), ljung_box(series, LAGS))
    failed = [test for test in tests if test.p < SIGNIFICANCE / len(tests)]
    if failed:
        said = ", ".join(f"{test.name} p = {test.p:.2g}" for test in failed)
        return _refusal(tests, f"The measurements are not independent and the same all along ({said}).")
    return _fitted(series, tests, resamples)


def _refusal(tests: tuple[Test, ...], why: str) -> Estimate:
    return Estimate(tests, (), why)


def _fitted(series: Floats, tests: tuple[Test, ...], resamples: int) -> Estimate:
    roads = [_Road.over_threshold(series), _Road.of_blocks(series)]
    poor = [road for road in roads if len(np.unique(road.points)) < DISTINCT_MIN]
    if poor:
        distinct = len(np.unique(poor[0].points))
        why = f"The {poor[0].method} have {distinct} distinct values, and a fit needs {DISTINCT_MIN}."
        return _refusal(tests, why)
    fits = tuple(_fit(road, resamples) for road in roads)
    bad = [fit for fit in fits if fit.p < SIGNIFICANCE / len(fits)]
    if bad:
        said = ", ".join(f"{fit.method}: p = {fit.p:.2g}" for fit in bad)
        return _refusal(tests, f"The extreme-value distribution does not fit ({said}).")
    return Estimate(tests, fits, None)


@dataclass(frozen=True)
class _Road:
    """The points that are fitted, the family they follow, and how a level is read off a fit of it."""

    method: str
    points: Floats
    family: Any
    fixed: dict[str, float]
    start: tuple[float, float, float]
    location: float
    level: Level

    @classmethod
    def over_threshold(cls, series: Floats) -> _Road:
        threshold = float(np.sort(series)[int(THRESHOLD_SHARE * len(series))])
        excess = series[series > threshold] - threshold
        share = len(excess) / len(series)

        def level(parameters: Any, exceedance: float) -> float:
            return threshold + float(genpareto.isf(min(exceedance / share, 1.0), *parameters))

        start = (0.1, 0.0, float(excess.mean()) if len(excess) else 1.0)
        return cls("excesses over a threshold", excess, genpareto, {"floc": 0.0}, start, threshold, level)

    @classmethod
    def of_blocks(cls, series: Floats) -> _Road:
        blocks = len(series) // BLOCK_VALUES
        maxima = series[: blocks * BLOCK_VALUES].reshape(blocks, BLOCK_VALUES).max(axis=1)

        def level(parameters: Any, exceedance: float) -> float:
            of_block = -np.expm1(BLOCK_VALUES * np.log1p(-exceedance))
            return float(genextreme.isf(of_block, *parameters))

        # By the moments of a Gumbel distribution (Coles, section 3.3.2).
        scale = max(float(maxima.std()) * np.sqrt(6) / np.pi, np.finfo(float).tiny)
        start = (0.1, float(maxima.mean()) - np.euler_gamma * scale, scale)
        return cls("maxima of blocks", maxima, genextreme, {}, start, 0.0, level)

    def fit(self, points: Floats, start: Any) -> Any:
        """Shape, location and scale by maximum likelihood, searched from those of `start`."""
        shape, location, scale = start
        guess = {"scale": scale} if "floc" in self.fixed else {"loc": location, "scale": scale}
        return self.family.fit(points, shape, **guess, **self.fixed)


def _fit(road: _Road, resamples: int) -> Fit:
    """Maximum likelihood, and a parametric bootstrap for both the levels' intervals and the test of the fit:
    Cramér and von Mises's statistic against its distribution under the fitted model, parameters fitted anew
    each time (Stute, González Manteiga and Presedo Quindimil, "Bootstrap based goodness-of-fit-tests",
    Metrika 40, 1993).
    """
    found = road.fit(road.points, road.start)
    statistic = _misfit(road, road.points, found)
    random = np.random.default_rng(0)
    drawn = [road.family.rvs(*found, size=len(road.points), random_state=random) for _ in range(resamples)]
    again = [road.fit(points, found) for points in drawn]
    misfits = [_misfit(road, points, parameters) for points, parameters in zip(drawn, again, strict=True)]
    shape, location, scale = found
    return Fit(
        method=road.method,
        points=len(road.points),
        # scipy's genextreme has the sign of the shape the other way round.
        shape=float(-shape if road.family is genextreme else shape),
        location=float(location + road.location),
        scale=float(scale),
        p=(1 + sum(misfit >= statistic for misfit in misfits)) / (resamples + 1),
        levels={exceedance: _level(road, found, again, exceedance) for exceedance in EXCEEDANCES},
    )


def _misfit(road: _Road, points: Floats, parameters: Any) -> float:
    return float(cramervonmises(points, road.family.cdf, args=parameters).statistic)


def _level(road: _Road, found: Any, again: list[Any], exceedance: float) -> tuple[float, float, float]:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(
        [road.level(parameters, exceedance) for parameters in again], [tail, 100 - tail]
    )
    return road.level(found, exceedance), float(low), float(high)
