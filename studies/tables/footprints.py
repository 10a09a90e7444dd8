"""What each allocator that comes along takes of flash and RAM, in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple

from firmware.build import catalogue, footprint
from firmware.build import image as firmware

HEADINGS = (
    *("allocator", "flash", "static RAM", "of the region, once", "beside a live block"),
    "smallest block",
)


def allocators() -> list[str]:
    """What is compiled from a user's own checkout depends on its version, and is left out."""
    rows = catalogue.allocators()
    return [name for name in firmware.allocators() if rows[name].checkout is None]


def rows() -> Iterator[tuple[object, ...]]:
    """A row for each allocator. Raises TailscopeError."""
    return (astuple(footprint.measure(name)) for name in allocators())
