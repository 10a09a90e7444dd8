"""Extreme values: what a longer run might have shown, where the measurements allow the question.

There are two methods (Coles, An Introduction to Statistical Modeling of Extreme Values, 2001,
chapters 3 and 4). The maxima of blocks follow a generalised extreme-value distribution. The
excesses over a high threshold follow a generalised Pareto distribution.

Both methods presume values that are independent and come from one distribution. So both are used
only where the values pass tests of that, and where the fit passes a test too. Where a test fails,
the result is a sentence and no number.

The result is an estimate from a model. It is no bound, and never a headline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from .series import LAGS, TestResult, halves_alike, ljung_box, mann_kendall
from .summaries import CONFIDENCE

# Of all tests together. Each test gets an equal share of it (Bonferroni).
SIGNIFICANCE = 0.05
# Probabilities, per sample, that a level is exceeded: the levels that are estimated.
EXCEEDANCES = (1e-4, 1e-5, 1e-6)
SAMPLES_MIN = 500
BLOCK_VALUES = 20
THRESHOLD_SHARE = 0.9
# Three parameters fit fewer distinct points than this whatever these are, and say nothing of them.
DISTINCT_MIN = 10
RESAMPLES = 199

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, and what lies beyond the last is not an "
    "extreme of the same kind."
)

Floats = npt.NDArray[np.float64]
Level = Callable[[Any, float], float]


@dataclass(frozen=True)
class Fit:
    """The fit of one method.

    `points` is how many values were fitted. A positive `shape` is a heavy tail. `location` is in
    the samples' unit, as is `scale`; of a threshold it is the threshold itself. `p` is that of the
    test of the fit. `levels` has, for each of EXCEEDANCES, the level and its interval: (level, low,
    high).
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
    """The outcome for a series: the tests that were made and, where all passed, the fits.

    `refused` is None, or the sentence why there is no estimate; then `fits` is empty.
    """

    tests: tuple[TestResult, ...]
    fits: tuple[Fit, ...]
    refused: str | None


def estimate(values: npt.ArrayLike, ramp: bool, resamples: int = RESAMPLES) -> Estimate:
    """Estimates the extremes of `values`, one-dimensional and in the order of time.

    `ramp` says that the scenario changes what it measures by design: then there is no estimate.
    `resamples` is the size of the bootstrap. Nothing is raised: what cannot be estimated is
    refused.
    """
    series = np.asarray(values, dtype=np.float64)
    if ramp:
        return _refuse((), RAMP)
    if len(series) < SAMPLES_MIN:
        return _refuse((), f"{len(series)} samples are too few, {SAMPLES_MIN} are needed; run longer.")
    tests = (mann_kendall(series), halves_alike(series), ljung_box(series, LAGS))
    failed = [test for test in tests if test.p < SIGNIFICANCE / len(tests)]
    if failed:
        said = ", ".join(f"{test.name} p = {test.p:.2g}" for test in failed)
        return _refuse(tests, f"The measurements are not independent and the same all along ({said}).")
    return _fitted(series, tests, resamples)


def _refuse(tests: tuple[TestResult, ...], why: str) -> Estimate:
    return Estimate(tests, (), why)


def _fitted(series: Floats, tests: tuple[TestResult, ...], resamples: int) -> Estimate:
    methods = [Method.of_excesses(series), Method.of_block_maxima(series)]
    poor = [method for method in methods if len(np.unique(method.points)) < DISTINCT_MIN]
    if poor:
        distinct = len(np.unique(poor[0].points))
        why = f"The {poor[0].name} have {distinct} distinct values, and a fit needs {DISTINCT_MIN}."
        return _refuse(tests, why)
    fits = tuple(_fit(method, resamples) for method in methods)
    bad = [fit for fit in fits if fit.p < SIGNIFICANCE / len(fits)]
    if bad:
        said = ", ".join(f"{fit.method}: p = {fit.p:.2g}" for fit in bad)
        return _refuse(tests, f"The extreme-value distribution does not fit ({said}).")
    return Estimate(tests, fits, None)


@dataclass(frozen=True)
class Method:
    """One way to estimate: the points that are fitted, their family, and how to read off a level.

    `fixed` and `start` are scipy's: the parameters that are not fitted, and where the search
    starts. `location` is what a fitted location counts from.
    """

    name: str
    points: Floats
    family: Any
    fixed: dict[str, float]
    start: tuple[float, float, float]
    location: float
    level: Level

    @classmethod
    def of_excesses(cls, series: Floats) -> Method:
        threshold = float(np.sort(series)[int(THRESHOLD_SHARE * len(series))])
        excess = series[series > threshold] - threshold
        share = len(excess) / len(series)

        def level(parameters: Any, exceedance: float) -> float:
            return threshold + float(scipy.stats.genpareto.isf(min(exceedance / share, 1.0), *parameters))

        start = (0.1, 0.0, float(excess.mean()) if len(excess) else 1.0)
        return cls(
            "excesses over a threshold", excess, scipy.stats.genpareto, {"floc": 0.0}, start, threshold, level
        )

    @classmethod
    def of_block_maxima(cls, series: Floats) -> Method:
        blocks = len(series) // BLOCK_VALUES
        maxima = series[: blocks * BLOCK_VALUES].reshape(blocks, BLOCK_VALUES).max(axis=1)

        def level(parameters: Any, exceedance: float) -> float:
            in_a_block = -np.expm1(BLOCK_VALUES * np.log1p(-exceedance))
            return float(scipy.stats.genextreme.isf(in_a_block, *parameters))

        # The search starts from the moments of a Gumbel distribution (Coles, section 3.3.2).
        scale = max(float(maxima.std()) * np.sqrt(6) / np.pi, np.finfo(float).tiny)
        start = (0.1, float(maxima.mean()) - np.euler_gamma * scale, scale)
        return cls("maxima of blocks", maxima, scipy.stats.genextreme, {}, start, 0.0, level)

    def fit(self, points: Floats, start: Any) -> Any:
        """Shape, location and scale by maximum likelihood; the search begins at `start`."""
        shape, location, scale = start
        guess = {"scale": scale} if "floc" in self.fixed else {"loc": location, "scale": scale}
        return self.family.fit(points, shape, **guess, **self.fixed)


def _fit(method: Method, resamples: int) -> Fit:
    """Fits by maximum likelihood; resamples of the fit give the levels' intervals and the test.

    The test compares Cramér and von Mises's statistic with its distribution under the fitted model.
    The parameters are fitted anew to each resample (Stute, González Manteiga and Presedo Quindimil,
    "Bootstrap based goodness-of-fit-tests", Metrika 40, 1993).
    """
    result = method.fit(method.points, method.start)
    statistic = _misfit(method, method.points, result)
    random = np.random.default_rng(0)
    drawn = [
        method.family.rvs(*result, size=len(method.points), random_state=random) for _ in range(resamples)
    ]
    refitted = [method.fit(points, result) for points in drawn]
    misfits = [
        _misfit(method, points, parameters) for points, parameters in zip(drawn, refitted, strict=True)
    ]
    shape, location, scale = result
    return Fit(
        method=method.name,
        points=len(method.points),
        # scipy's genextreme has the sign of the shape the other way round.
        shape=float(-shape if method.family is scipy.stats.genextreme else shape),
        location=float(location + method.location),
        scale=float(scale),
        p=(1 + sum(misfit >= statistic for misfit in misfits)) / (resamples + 1),
        levels={exceedance: _level(method, result, refitted, exceedance) for exceedance in EXCEEDANCES},
    )


def _misfit(method: Method, points: Floats, parameters: Any) -> float:
    return float(scipy.stats.cramervonmises(points, method.family.cdf, args=parameters).statistic)


def _level(method: Method, result: Any, refitted: list[Any], exceedance: float) -> tuple[float, float, float]:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(
        [method.level(parameters, exceedance) for parameters in refitted], [tail, 100 - tail]
    )
    return method.level(result, exceedance), float(low), float(high)
