"""Tests of what statistics presume of a series: independent values, of one distribution.

The hypothesis of each test is that the series is sound. A small p speaks against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LAGS = 10


@dataclass(frozen=True)
class TestResult:
    """`p` is the probability of a `statistic` at least as bad, if the series were sound."""

    name: str
    statistic: float
    p: float


def ljung_box(values: npt.ArrayLike, lags: int = LAGS) -> TestResult:
    """Tests for independence, by all autocorrelations up to `lags` together.

    `values` are in the order of time, and more than `lags`. A constant series passes. Source: Ljung
    and Box, "On a measure of lack of fit in time series models", Biometrika 65, 1978.
    """
    import scipy  # of an extra: cli/shell/start.py

    series = np.asarray(values, dtype=np.float64)
    centred = series - series.mean()
    n, power = len(centred), float(centred @ centred)
    if power == 0:
        return TestResult("Ljung-Box", 0.0, 1.0)
    correlation = np.array([centred[lag:] @ centred[:-lag] / power for lag in range(1, lags + 1)])
    statistic = n * (n + 2) * float(np.sum(correlation**2 / (n - np.arange(1, lags + 1))))
    return TestResult("Ljung-Box", statistic, float(scipy.special.chdtrc(lags, statistic)))


def mann_kendall(values: npt.ArrayLike) -> TestResult:
    """Tests for a trend, by the rank correlation of the values and their order.

    A constant series passes. Source: Mann, "Nonparametric tests against trend", Econometrica 13,
    1945; with Kendall's tau-b, which allows for ties.
    """
    import scipy  # of an extra: cli/shell/start.py

    series = np.asarray(values)
    if np.ptp(series) == 0:
        return TestResult("Mann-Kendall", 0.0, 1.0)
    result = scipy.stats.kendalltau(np.arange(len(series)), series)
    return TestResult("Mann-Kendall", float(result.statistic), float(result.pvalue))


def halves_alike(values: npt.ArrayLike) -> TestResult:
    """Tests whether both halves have the same distribution, by Smirnov's two-sample test.

    It is conservative where values repeat. Source: Smirnov, "On the estimation of the discrepancy
    between empirical curves of distribution for two independent samples", 1939.
    """
    import scipy  # of an extra: cli/shell/start.py

    series = np.asarray(values)
    middle = len(series) // 2
    result = scipy.stats.ks_2samp(series[:middle], series[middle:])
    return TestResult("Kolmogorov-Smirnov of the halves", float(result.statistic), float(result.pvalue))
