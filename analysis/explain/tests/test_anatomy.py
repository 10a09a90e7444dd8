"""What a search visited, from the addresses that it read."""

from __future__ import annotations

from analysis.explain.anatomy import _visited


def test_the_words_of_a_header_are_of_one_place() -> None:
    """Of 257 blocks each has its size and two links read, of the first the size alone."""
    blocks = [32 * number for number in range(257)]
    read = [0, *(address + word for address in blocks[1:] for word in (4, 8, 0))]
    assert len(read) == 769
    assert len(_visited(read, (), blocks=False)) == 257
