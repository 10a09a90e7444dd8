"""What was stated of the allocator that ran: in the catalogue, or beside a file from outside."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from base.run_folder.manifest import AskedFirmware
from base.run_folder.records import Boot
from firmware.build import catalogue


class Stated(NamedTuple):
    """Promises of heap/catalogue.toml, the knobs' defaults, and whether it searches in a loop."""

    promises: Collection[str]
    knobs: Mapping[str, int]
    searches: bool


def stated_of(boot: Boot | None, asked: AskedFirmware | None) -> Stated | None:
    """What is known of the allocator that BOOT names; None where nobody knows it."""
    if boot is None:
        return None
    outside = asked.outside if asked and asked.allocator == boot.allocator else None
    if outside is not None:
        return Stated(outside.promises, outside.knobs, outside.searches)
    row = catalogue.own().get(boot.allocator)
    return Stated(row.promises, row.knobs, row.search != ()) if row else None
