"""Which runs are made both ways."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from analysis.campaign.work import Sample


def test_the_first_of_each_image_and_rate_is_made_both_ways_and_a_share_of_the_others() -> None:
    first, other = (SimpleNamespace(digest=name) for name in "ab")
    low, middle, high = ("0" * 64, f"8{'0' * 63}", "f" * 64)
    sample = Sample(0.5)
    runs: list[tuple[str, Any, int]] = [
        *((high, first, 84), (high, first, 84), (high, first, 24), (high, other, 84)),
        *((low, first, 84), (middle, first, 84)),
    ]
    assert [sample.takes(*each) for each in runs] == [True, False, True, True, True, False]
    assert not Sample(0.0).takes(low, first, 84)  # type: ignore[arg-type]
