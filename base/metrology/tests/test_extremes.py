import numpy as np
import pytest
from scipy.stats import genextreme

from base.metrology.extremes import EXCEEDANCES, Method, estimate

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
