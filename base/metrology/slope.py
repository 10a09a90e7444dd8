"""The slope of a line through points whose errors are bounded, whatever their distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers

ROUNDING = 0.5
"""How far a value that was rounded to whole units may lie from the true one."""


@dataclass(frozen=True)
class Slope:
    """A fitted slope, in units of y per unit of x.

    `residual_max` is the farthest that a point lies from the line, in units of y. `uncertainty` is
    the most by which the errors of the points can have turned it, in the unit of the slope.
    """

    value: float
    residual_max: float
    uncertainty: float


def fit_slope(x: Floats, y: Floats, error: float = ROUNDING) -> Slope:
    """Fits y = slope * x by least squares.

    `x` and `y` are float64[n], each about its own mean, so that no offset is left to fit. `error`
    bounds the error of each y. Where a point lies farther from the line than that, its residual is
    the bound.

    Least squares weighs each error by the distance of its point from the middle. So the slope is
    turned farthest where all errors have the same sense.
    """
    value = float(x @ y / (x @ x))
    residual_max = float(np.abs(y - value * x).max())
    uncertainty = max(error, residual_max) * float(np.abs(x).sum() / (x @ x))
    return Slope(value, residual_max, uncertainty)


def centred(values: Integers) -> Floats:
    """`values` about their mean, float64[n].

    The first value is taken off before the mean is: differences of int64 are exact in a float64.
    """
    since_first = values - values[0]
    about_mean: Floats = since_first - since_first.mean()
    return about_mean
