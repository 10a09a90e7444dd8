"""Labels of points: none covers another or a point."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from studies.reproduce.labels import offsets

COORDINATES = st.tuples(st.integers(0, 460), st.integers(-340, 0))


@given(st.lists(COORDINATES, min_size=1, max_size=7, unique=True))
def test_labels_lie_apart(points: list[tuple[int, int]]) -> None:
    """Eleven letters of six pixels, in lines of twelve: as the page draws them."""
    words = ["Half Fit CS"] * len(points)
    middles = [
        (x + right, y + down) for (x, y), (right, down) in zip(points, offsets(points, words), strict=True)
    ]
    for (x, y), (other_x, other_y) in combinations(middles, 2):
        assert abs(x - other_x) >= 66 or abs(y - other_y) >= 12
    for x, y in middles:
        assert all(abs(x - at_x) >= 33 or abs(y - at_y) >= 6 for at_x, at_y in points)
