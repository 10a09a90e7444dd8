import io
import re

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from base.metrology.quantiles import percentile_distribution

ROW = re.compile(r"\s*(\d+\.\d{3}) (\d\.\d{12})\s+(\d+)(?:\s+(\d+\.\d\d))?")


def rows(text: str) -> list[tuple[float, float, int]]:
    lines = [ROW.fullmatch(line) for line in text.splitlines()]
    return [(float(m[1]), float(m[2]), int(m[3])) for m in lines if m]


def test_hdrhistogram_itself_has_the_same_percentiles() -> None:
    values = np.random.default_rng(4).gamma(2.0, 4000.0, 20_000).astype(int) + 1
    reference = HdrHistogram(1, 10_000_000, 3)
    for value in values.tolist():
        reference.record_value(value)
    found = rows(percentile_distribution(values))
    shares = np.array([share for _, share, _ in found])
    for percentile in (10, 50, 90, 99, 99.9, 99.99):
        ours = found[int(np.searchsorted(shares, percentile / 100 - 1e-12))][0]
        assert ours == pytest.approx(reference.get_value_at_percentile(percentile), rel=1e-3)
    assert found[-1] == (float(values.max()), 1.0, 20_000)


def test_its_lines_are_shaped_as_those_of_hdrhistogram() -> None:
    reference = HdrHistogram(1, 100_000, 3)
    for value in (10, 20, 20, 30):
        reference.record_value(value)
    theirs = io.BytesIO()
    reference.output_percentile_distribution(theirs, 1.0)
    ours = percentile_distribution([10, 20, 20, 30])
    shape = re.compile(r"[0-9]+")
    for mine, line in ((ours, theirs.getvalue().decode()),):
        assert mine.splitlines()[0].split() == line.splitlines()[0].split()
        assert [shape.sub("9", row).split("=")[0] for row in mine.splitlines()[-3:]] == [
            shape.sub("9", row).split("=")[0] for row in line.splitlines()[-3:]
        ]
        assert len(rows(line)) >= len(rows(mine)) == 3
    assert ours.splitlines()[2] == "      10.000 0.250000000000          1           1.33"
    assert ours.splitlines()[4] == "      30.000 1.000000000000          4"


def test_nothing_cannot_be_exported() -> None:
    with pytest.raises(ValueError, match="no samples"):
        percentile_distribution([])
