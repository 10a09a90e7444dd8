"""One sample: everything that is known of one operation or interrupt."""

from __future__ import annotations

from dashboards.loaded.series import Series
from dashboards.page.embedded import instant, run_of
from dashboards.pages.blocks import Instant, Page, Sample
from dashboards.waveforms.keys import describe


def sample(one: Series, key: str) -> Page | None:
    """The page of the sample `key` (dashboards/waveforms/keys.py). None where the run has none."""
    data = instant(one, key)
    if data is None:
        return None
    block = Instant(Sample(one.run.id, key), run_of(one), data)
    return Page("sample", f"{one.name}: {describe(key)}", (), (block,))
