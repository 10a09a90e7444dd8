"""The picture of a capture under way."""

from __future__ import annotations

import numpy as np

from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import EdgeList
from capture.reading.counter import Growing
from dashboards.growing_wire import picture, wave

HZ = 1_000_000
PAIR = ("CRIT", "OP")


def rows(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([at for at, _ in pairs]), np.array([word for _, word in pairs], np.uint8)


def test_each_part_is_high_low_or_both() -> None:
    edges = EdgeList(*rows((0, 0), (10, 1), (20, 3), (25, 1), (30, 0)), HZ, 40, PAIR)
    assert wave(edges, "CRIT", 0, 40, columns=4) == "▁▆▆▁"
    assert wave(edges, "OP", 0, 40, columns=4) == "▁▁│▁"
    assert wave(edges, "OP", 0, 40, columns=8) == "▁▁▁▁▆▁▁▁"


def test_the_picture_says_how_long_one_in_so_many_took() -> None:
    growing = Growing()
    assert picture(growing) == ["no sample yet"]
    pairs = [(0, 0)]
    for pulse in range(200):
        pairs += [(100 * pulse + 50, 1), (100 * pulse + 60 + (pulse == 70) * 25, 0)]
    growing.add(NewEdges(*rows(*pairs), HZ, 0, 20_000, PAIR))
    lines = picture(growing)
    assert lines[0].startswith("0.0 s captured; the last edges, ")
    assert [row.split() for row in lines if row.startswith("CRIT, width")] == [
        ["CRIT,", "width", "200", "10.00", "10.00", "10.00", "-", "-", "35.00"]
    ]


def test_a_capture_without_an_edge_is_drawn_flat() -> None:
    growing = Growing()
    growing.add(NewEdges(*rows((0, 1)), HZ, 0, 1_000, PAIR))
    lines = picture(growing)
    assert "CRIT  " + 64 * "▆" in lines
