from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from base.metrology.extremes import EXCEEDANCES, estimate, halves_alike, ljung_box, mann_kendall
from base.metrology.slope import centred, fit_slope


def test_of_exponential_values_the_levels_are_known() -> None:
    """P(X > x) = exp(-x / 100): the level of p is -100 ln p, the shape is 0."""
    levels = estimate(np.random.default_rng(1).exponential(100.0, 2_000), ramp=False, resamples=39)
    assert levels.refused is None and levels.fit is not None
    assert abs(levels.fit.shape) < 0.2
    for exceedance in EXCEEDANCES:
        level, low, high = levels.fit.levels[exceedance]
        assert low < -100 * np.log(exceedance) < high and low < level < high
    assert levels.fit.threshold == pytest.approx(100 * np.log(10), rel=0.1)


def test_a_ramp_is_refused_whatever_its_values() -> None:
    levels = estimate(np.random.default_rng(1).exponential(100.0, 2_000), ramp=True)
    assert levels.fit is None and levels.refused is not None and "chosen, not drawn" in levels.refused


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.random.default_rng(1).normal(size=2000) + np.linspace(0, 3, 2000), "Mann-Kendall p ="),
        (np.convolve(np.random.default_rng(1).normal(size=2000), [1, 1, 1], "same"), "Ljung-Box p ="),
        (np.random.default_rng(1).integers(0, 12, size=2000), "distinct values"),
        (np.full(2000, 7.0), "0 distinct values"),
    ],
)
def test_what_fails_a_test_gets_a_sentence_and_no_number(values: np.ndarray, words: str) -> None:
    levels = estimate(values, ramp=False, resamples=19)
    assert levels.fit is None
    assert levels.refused is not None and words in levels.refused and levels.refused.endswith(".")


def test_ljung_box_by_hand() -> None:
    """In fractions, from the definition: Q = n(n + 2) Σ r_k² / (n - k)."""
    values = [Fraction(v) for v in (2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5)]
    n, mean = len(values), sum(values, Fraction(0)) / 12
    power = sum((v - mean) ** 2 for v in values)
    q: Fraction | float = Fraction(0)
    for lag in (1, 2, 3):
        r = sum((values[i] - mean) * (values[i + lag] - mean) for i in range(n - lag)) / power
        q += r**2 / (n - lag)
    result = ljung_box([float(v) for v in values], lags=3)
    assert result.statistic == pytest.approx(float(n * (n + 2) * q))


def test_chi_squared_with_two_degrees_is_exponential() -> None:
    result = ljung_box([1, 5, 2, 4, 8, 1, 3, 9, 2, 2], lags=2)
    assert result.p == pytest.approx(np.exp(-result.statistic / 2))


def test_independent_draws_pass_nine_times_in_ten() -> None:
    random = np.random.default_rng(3)
    for test in (ljung_box, mann_kendall, halves_alike):
        refused = sum(test(random.normal(size=200)).p < 0.1 for _ in range(300))
        assert refused < 55, test.__name__


def test_each_sees_what_it_is_for() -> None:
    random = np.random.default_rng(3)
    noise = random.normal(size=600)
    swinging = noise + np.roll(noise, 1)
    assert ljung_box(swinging).p < 1e-6 < mann_kendall(swinging).p
    assert mann_kendall(noise + np.linspace(0, 1, 600)).p < 1e-6
    wider = noise * np.repeat([1, 3], 300)
    assert halves_alike(wider).p < 1e-6 < mann_kendall(wider).p


X = np.array([-4.0, -1.0, 0.0, 2.0, 3.0])


def test_no_errors_turn_the_slope_farther_than_its_uncertainty_and_some_turn_it_so_far() -> None:
    """Least squares is linear in the errors, so the worst are those of half a unit each."""
    turned = [
        abs(fit_slope(X, 7.0 * X + np.array(signs) / 2).value - 7.0) for signs in product((-1, 1), repeat=5)
    ]
    assert max(turned) == pytest.approx(fit_slope(X, 7.0 * X).uncertainty)


def test_a_point_far_from_the_line_widens_the_uncertainty() -> None:
    y = np.array([-4.0, -1.0, 3.0, 2.0, 0.0])
    slope = fit_slope(X, y)
    assert slope.residual_max > 0.5
    assert slope.uncertainty == pytest.approx(fit_slope(X, X).uncertainty * slope.residual_max / 0.5)


def test_great_values_are_centred_exactly() -> None:
    assert centred(np.array([0, 1, 2, 3]) + 2**62).tolist() == [-1.5, -0.5, 0.5, 1.5]
