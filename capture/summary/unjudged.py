"""What the verdict of a run from the wire alone cannot tell, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from base.run_folder.manifest import BY_ANALYZER, VIRTUAL_BOARD
from base.run_folder.observed import Asked

DROPPED = (
    "Samples that the analyzer dropped without a word would not be seen: a pulse or latency around such a "
    "place is told too short, and one may be missing. With frames on SYNC the ratio of the clocks would show "
    "it; a slower samplerate makes it less likely."
)
UNKNOWN_RATE = (
    "Nobody says at which samplerate it was captured, so edges may be off by more than the resolution; give "
    "--samplerate."
)
NOT_KEPT = (
    "Only the windows were kept: all other figures were counted as the samples came, and cannot be counted "
    "again. Frames were not looked for."
)


_LOSSLESS = "beaglelogic"
"""The analyzer of the virtual board: it waits for whoever listens."""


def unjudged(request: Asked, framed: bool) -> Iterator[str]:
    """Of a capture that is `framed` by its program on SYNC, or not."""
    imported = request.imported
    if imported and imported.samplerate_from == "resolution" and imported.format in BY_ANALYZER:
        yield UNKNOWN_RATE
    if not framed and not _lossless(request):
        yield DROPPED
    if request.keep:
        yield NOT_KEPT


def _lossless(request: Asked) -> bool:
    return request.analyzer == _LOSSLESS and VIRTUAL_BOARD in request.tools
