from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from base.metrology.series import halves_alike, ljung_box, mann_kendall
from base.metrology.slope import centred, fit_slope


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
