"""Which runs are made both ways."""

from __future__ import annotations

from analysis.campaign.matrix import Point
from analysis.campaign.work import Order, Sample


def order(key: str, image: str, samplerate_hz: int) -> Order:
    point = Point("mem_frag", "tlsf")
    return Order(key, point, None, samplerate_hz, "direct", image, "")  # type: ignore[arg-type]


def test_the_first_of_each_image_and_rate_is_made_both_ways_and_a_share_of_the_others() -> None:
    low, middle, high = ("0" * 64, f"8{'0' * 63}", "f" * 64)
    sample = Sample(0.5)
    runs = [
        *((high, "a", 84), (high, "a", 84), (high, "a", 24), (high, "b", 84)),
        *((low, "a", 84), (middle, "a", 84)),
    ]
    assert [sample.takes(order(*each)) for each in runs] == [True, False, True, True, True, False]
    assert not Sample(0.0).takes(order(low, "a", 84))
