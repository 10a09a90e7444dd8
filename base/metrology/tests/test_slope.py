"""The bound of a slope, against all errors that there can be."""

from itertools import product

import numpy as np
import pytest

from base.metrology.slope import centred, fit_slope

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
