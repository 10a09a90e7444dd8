"""Where the labels of points go so that each can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

_LETTER_PX, _LINE_PX, _POINT_PX = 6.2, 14, 12
_DISTANCES_PX = range(14, 130, 8)
_DIRECTIONS = ((0, -1), (1, -0.5), (-1, -0.5), (0, 1), (1, 0.5), (-1, 0.5), (1, -1.5), (-1, -1.5), (1, 1.5))


@dataclass(frozen=True)
class _Box:
    """A rectangle by its middle."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, other: _Box) -> float:
        """The area that both cover."""
        across = (self.width + other.width) / 2 - abs(self.x - other.x)
        down = (self.height + other.height) / 2 - abs(self.y - other.y)
        return max(across, 0) * max(down, 0)


def offsets(
    points: Sequence[tuple[float, float]], words: Sequence[str], others: Sequence[tuple[float, float]] = ()
) -> list[tuple[float, float]]:
    """From each point to the middle of its label, right and down in pixels, as the points are.

    A label covers neither another nor a point, `others` included; where there is no such place, it
    covers as little as it can.
    """
    taken = [_Box(x, y, _POINT_PX, _POINT_PX) for x, y in (*points, *others)]
    found = []
    for (x, y), word in zip(points, words, strict=True):
        best = min(_places(x, y, word), key=lambda box: sum(box.overlap(other) for other in taken))
        taken.append(best)
        found.append((best.x - x, best.y - y))
    return found


def _places(x: float, y: float, word: str) -> Iterator[_Box]:
    """The nearest first."""
    width = _LETTER_PX * len(word)
    for distance, (right, down) in product(_DISTANCES_PX, _DIRECTIONS):
        yield _Box(x + right * (distance + width / 2 - 8), y + down * distance, width, _LINE_PX)
