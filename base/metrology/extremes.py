"""Extreme values: what a longer run might have shown, where the measurements allow the question.

The excesses over a high threshold follow a generalised Pareto distribution (Coles, An Introduction
to Statistical Modeling of Extreme Values, 2001, chapter 4).

That presumes values that are independent and come from one distribution. So it is used only where
the values pass tests of that, and where the fit passes a test too. Where a test fails, the result
is a sentence and no number.

The result is an estimate from a model. It is no bound, and never a headline.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Floats
from .summaries import CONFIDENCE

# Of all tests together. Each test gets an equal share of it (Bonferroni).
SIGNIFICANCE = 0.05
# Probabilities, per sample, that a level is exceeded: the levels that are estimated.
EXCEEDANCES = (1e-4, 1e-5, 1e-6)
SAMPLES_MIN = 500
THRESHOLD_SHARE = 0.9
# Two parameters fit fewer distinct points than this whatever these are, and say nothing of them.
DISTINCT_MIN = 10
RESAMPLES = 199
LAGS = 10

RAMP = (
    "The scenario is a ramp: its depths are chosen, not drawn, and what lies beyond the last is not an "
    "extreme of the same kind."
)


@dataclass(frozen=True)
class TestResult:
    """A test whose hypothesis is that a series is sound: `p` is the probability of a `statistic` at
    least as bad, if it were. A small one speaks against it.
    """

    name: str
    statistic: float
    p: float


@dataclass(frozen=True)
class Fit:
    """The fit of the `points` values above the `threshold`, in the samples' unit, as is `scale`.

    A positive `shape` is a heavy tail. `p` is that of the test of the fit. `levels` has, for each
    of EXCEEDANCES, the level and its interval: (level, low, high).
    """

    points: int
    shape: float
    threshold: float
    scale: float
    p: float
    levels: dict[float, tuple[float, float, float]]


@dataclass(frozen=True)
class Estimate:
    """The outcome for a series: the tests that were made and, where all passed, the fit.

    `refused` is None, or the sentence why there is no estimate.
    """

    tests: tuple[TestResult, ...]
    fit: Fit | None
    refused: str | None


def estimate(values: npt.ArrayLike, ramp: bool, resamples: int = RESAMPLES) -> Estimate:
    """Estimates the extremes of `values`, one-dimensional and in the order of time.

    `ramp` says that the scenario changes what it measures by design: then there is no estimate.
    `resamples` is the size of the bootstrap. Nothing is raised: what cannot be estimated is
    refused.
    """
    series = np.asarray(values, dtype=np.float64)
    if ramp:
        return Estimate((), None, RAMP)
    if len(series) < SAMPLES_MIN:
        why = f"{len(series)} samples are too few, {SAMPLES_MIN} are needed; run longer."
        return Estimate((), None, why)
    tests = (mann_kendall(series), halves_alike(series), ljung_box(series, LAGS))
    failed = [test for test in tests if test.p < SIGNIFICANCE / len(tests)]
    if failed:
        said = ", ".join(f"{test.name} p = {test.p:.2g}" for test in failed)
        why = f"The measurements are not independent and the same all along ({said})."
        return Estimate(tests, None, why)
    threshold = float(np.sort(series)[int(THRESHOLD_SHARE * len(series))])
    excess = series[series > threshold] - threshold
    if (distinct := len(np.unique(excess))) < DISTINCT_MIN:
        why = (
            f"The excesses over a threshold have {distinct} distinct values, and a fit needs {DISTINCT_MIN}."
        )
        return Estimate(tests, None, why)
    fit = _fit(excess, threshold, len(excess) / len(series), resamples)
    if fit.p < SIGNIFICANCE:
        return Estimate(tests, None, f"The extreme-value distribution does not fit (p = {fit.p:.2g}).")
    return Estimate(tests, fit, None)


def _fit(excess: Floats, threshold: float, share: float, resamples: int) -> Fit:
    """Fits by maximum likelihood; resamples of the fit give the levels' intervals and the test.

    The test compares Cramér and von Mises's statistic with its distribution under the fitted model.
    The parameters are fitted anew to each resample (Stute, González Manteiga and Presedo Quindimil,
    "Bootstrap based goodness-of-fit-tests", Metrika 40, 1993).
    """
    from scipy.stats import cramervonmises, genpareto

    def fitted(points: Floats, shape: float, scale: float) -> tuple[tuple[float, float, float], float]:
        parameters = genpareto.fit(points, shape, scale=scale, floc=0.0)
        return parameters, float(cramervonmises(points, genpareto.cdf, args=parameters).statistic)

    def level(parameters: tuple[float, float, float], exceedance: float) -> float:
        return threshold + float(genpareto.isf(min(exceedance / share, 1.0), *parameters))

    own, misfit = fitted(excess, 0.1, float(excess.mean()))
    shape, _, scale = own
    random = np.random.default_rng(0)
    drawn = [
        fitted(genpareto.rvs(*own, size=len(excess), random_state=random), shape, scale)
        for _ in range(resamples)
    ]
    tail = 100 * (1 - CONFIDENCE) / 2
    levels = {}
    for exceedance in EXCEEDANCES:
        of_resamples = [level(parameters, exceedance) for parameters, _ in drawn]
        low, high = np.percentile(of_resamples, [tail, 100 - tail])
        levels[exceedance] = (level(own, exceedance), float(low), float(high))
    p = (1 + sum(other >= misfit for _, other in drawn)) / (resamples + 1)
    return Fit(len(excess), float(shape), threshold, float(scale), p, levels)


def ljung_box(values: npt.ArrayLike, lags: int = LAGS) -> TestResult:
    """Tests for independence, by all autocorrelations up to `lags` together.

    `values` are in the order of time, and more than `lags`. A constant series passes. Source: Ljung
    and Box, "On a measure of lack of fit in time series models", Biometrika 65, 1978.
    """
    import scipy  # of an extra: cli/shell/start.py

    series = np.asarray(values, dtype=np.float64)
    centred = series - series.mean()
    n, power, statistic = len(centred), float(centred @ centred), 0.0
    if power:
        correlation = np.array([centred[lag:] @ centred[:-lag] / power for lag in range(1, lags + 1)])
        statistic = n * (n + 2) * float(np.sum(correlation**2 / (n - np.arange(1, lags + 1))))
    return TestResult("Ljung-Box", statistic, float(scipy.special.chdtrc(lags, statistic)))


def mann_kendall(series: Floats) -> TestResult:
    """Tests for a trend, by the rank correlation of the values and their order.

    A constant series passes. Source: Mann, "Nonparametric tests against trend", Econometrica 13,
    1945; with Kendall's tau-b, which allows for ties.
    """
    import scipy  # of an extra: cli/shell/start.py

    if np.ptp(series) == 0:
        return TestResult("Mann-Kendall", 0.0, 1.0)
    result = scipy.stats.kendalltau(np.arange(len(series)), series)
    return TestResult("Mann-Kendall", float(result.statistic), float(result.pvalue))


def halves_alike(series: Floats) -> TestResult:
    """Tests whether both halves have the same distribution, by Smirnov's two-sample test.

    It is conservative where values repeat. Source: Smirnov, "On the estimation of the discrepancy
    between empirical curves of distribution for two independent samples", 1939.
    """
    import scipy  # of an extra: cli/shell/start.py

    middle = len(series) // 2
    result = scipy.stats.ks_2samp(series[:middle], series[middle:])
    return TestResult("Kolmogorov-Smirnov of the halves", float(result.statistic), float(result.pvalue))
