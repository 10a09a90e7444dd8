"""Where the labels of points go so that they hide neither each other nor a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Box = tuple[float, float, float, float]

_LETTER_PX, _LINE_PX, _POINT_PX = 6.6, 14.0, 6.0
# Where a label stands, by Plotly's name: its centre, in half widths and heights from the point.
_PLACES = {
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top center": (0, -1),
    "bottom center": (0, 1),
    "top right": (1, -1),
    "bottom right": (1, 1),
    "top left": (-1, -1),
    "bottom left": (-1, 1),
}


def place(
    points: Sequence[tuple[float, float]],
    labels: Sequence[Sequence[str]],
    width_px: float,
    height_px: float,
) -> tuple[list[str], list[str]]:
    """The label of each point and its place, as Plotly's text and textposition.

    `points` are in pixels, from the top left of a plot of this size. Of the labels of a point the
    first that fits is taken. One that has no room at all is left empty: hovering tells its name.
    """
    taken = [_box(x, y, 2 * _POINT_PX, 2 * _POINT_PX) for x, y in points]
    texts, places = [], []
    for point, choices in zip(points, labels, strict=True):
        for label, name, box in _candidates(point, choices):
            if _within(box, width_px, height_px) and not any(_meet(box, other) for other in taken):
                texts.append(label)
                places.append(name)
                taken.append(box)
                break
        else:
            texts.append("")
            places.append("middle right")
    return texts, places


def _candidates(point: tuple[float, float], labels: Sequence[str]) -> Iterator[tuple[str, str, Box]]:
    """Every label in every place, the most wanted first."""
    x, y = point
    for label in labels:
        width = _LETTER_PX * len(label)
        for name, (right, down) in _PLACES.items():
            centre = x + right * (width / 2 + _POINT_PX), y + down * (_LINE_PX / 2 + _POINT_PX)
            yield label, name, _box(*centre, width, _LINE_PX)


def _box(x: float, y: float, width: float, height: float) -> Box:
    """Left, top, right, bottom."""
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _within(box: Box, width_px: float, height_px: float) -> bool:
    left, top, right, bottom = box
    return left >= 0 and top >= 0 and right <= width_px and bottom <= height_px


def _meet(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
