from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import genextreme

from base.metrology.extremes import EXCEEDANCES, Method, estimate
from base.metrology.series import halves_alike, ljung_box, mann_kendall
from base.metrology.slope import centred, fit_slope

# Annual maxima of the sea level at Port Pirie, 1923-1987, in metres (Coles, 2001, section 3.4.1),
# whose maximum likelihood fit is location 3.87, scale 0.198, shape -0.050.
LEVELS = """
4.03 3.83 3.65 3.88 4.01 4.08 4.18 3.80 4.36 3.96 3.98 4.69 3.85
3.96 3.85 3.93 3.75 3.63 3.57 4.25 3.97 4.05 4.24 4.22 3.73 4.37
4.06 3.71 3.96 4.06 4.55 3.79 3.89 4.11 3.85 3.86 3.86 4.21 4.01
4.11 4.24 3.96 4.21 3.74 3.85 3.88 3.66 4.11 3.71 4.18 3.90 3.78
3.91 3.72 4.00 3.66 3.62 4.33 4.55 3.75 4.08 3.90 3.88 3.94 4.33
"""
PORT_PIRIE = np.array([float(level) for level in LEVELS.split()])


def test_a_published_fit_of_maxima() -> None:
    method = Method(
        "maxima", PORT_PIRIE, genextreme, {}, (0.1, 4.0, 0.2), 0.0, lambda _parameters, _share: 0.0
    )
    shape, location, scale = method.fit(PORT_PIRIE, method.start)
    assert (location, scale, -shape) == (
        pytest.approx(3.87, abs=0.005), pytest.approx(0.198, abs=0.0005), pytest.approx(-0.050, abs=0.0005),
    )  # fmt: skip


def test_of_exponential_values_the_levels_are_known() -> None:
    """P(X > x) = exp(-x / 100): the level of p is -100 ln p, the shape of both families is 0."""
    levels = estimate(np.random.default_rng(1).exponential(100.0, 2_000), ramp=False, resamples=39)
    assert levels.refused is None and len(levels.fits) == 2
    for fit in levels.fits:
        assert abs(fit.shape) < 0.2
        for exceedance in EXCEEDANCES:
            level, low, high = fit.levels[exceedance]
            assert low < -100 * np.log(exceedance) < high and low < level < high
    assert levels.fits[0].location == pytest.approx(100 * np.log(10), rel=0.1)


def test_a_ramp_is_refused_whatever_its_values() -> None:
    levels = estimate(np.random.default_rng(1).exponential(100.0, 2_000), ramp=True)
    assert levels.fits == () and levels.refused is not None and "chosen, not drawn" in levels.refused


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
    assert levels.fits == ()
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
