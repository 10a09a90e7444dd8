"""Is a series of measurements what a statistic takes it for: the same all along, each apart from the last?

Named tests, each with the hypothesis that all is well; a small p speaks against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, kendalltau, ks_2samp

LAGS = 10


@dataclass(frozen=True)
class Test:
    """`p` is the probability of a `statistic` at least as bad if the series were sound."""

    name: str
    statistic: float
    p: float


def ljung_box(values: npt.ArrayLike, lags: int = LAGS) -> Test:
    """Independence: autocorrelations up to `lags` taken together (Ljung and Box, "On a measure of lack of fit
    in time series models", Biometrika 65, 1978). A constant series has none. Needs more values than lags.
    """
    series = np.asarray(values, dtype=np.float64)
    centred = series - series.mean()
    n, power = len(centred), float(centred @ centred)
    if power == 0:
        return Test("Ljung-Box", 0.0, 1.0)
    correlation = np.array([centred[lag:] @ centred[:-lag] / power for lag in range(1, lags + 1)])
    statistic = n * (n + 2) * float(np.sum(correlation**2 / (n - np.arange(1, lags + 1))))
    return Test("Ljung-Box", statistic, float(chi2.sf(statistic, lags)))


def mann_kendall(values: npt.ArrayLike) -> Test:
    """No trend: rank correlation of values and order (Mann, "Nonparametric tests against trend", Econometrica
    13, 1945; Kendall's tau-b, which allows for ties). A constant series has none.
    """
    series = np.asarray(values)
    if np.ptp(series) == 0:
        return Test("Mann-Kendall", 0.0, 1.0)
    found = kendalltau(np.arange(len(series)), series)
    return Test("Mann-Kendall", float(found.statistic), float(found.pvalue))


def halves_alike(values: npt.ArrayLike) -> Test:
    """Same distribution in both halves: the two-sample test of Smirnov ("On the estimation of the discrepancy
    between empirical curves of distribution for two independent samples", 1939); conservative with ties.
    """
    series = np.asarray(values)
    middle = len(series) // 2
    found = ks_2samp(series[:middle], series[middle:])
    return Test("Kolmogorov-Smirnov of the halves", float(found.statistic), float(found.pvalue))
