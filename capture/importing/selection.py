"""Which of a file's channels are which of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from base.files.complaints import quoted
from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS

# How tools call what sigrok calls D3: Saleae's CSV, its binary files, a bare number.
_DIGITAL = re.compile(r"D([0-9]{1,2})")
_ALIASES = ("Channel {}", "digital_{}", "{}")
_MOST_LISTED = 16


class Selection:
    """The names that a user gave to the file's channels: `names` has ours and the file's.

    None takes those that are called as ours are. Raises CaptureError for a name that is none of
    CHANNELS, and for two of ours on one of the file's.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        for name in names or ():
            if name not in CHANNELS:
                raise CaptureError(f"There is no channel {quoted(name)}; give some of {', '.join(CHANNELS)}.")
        if names is not None and len(set(names.values())) != len(names):
            raise CaptureError("Two of our channels cannot be one of the file's.")
        self._asked = names

    def among(self, names: Sequence[str]) -> dict[str, int]:
        """The index in `names` of each of our channels, in the order of CHANNELS.

        Raises CaptureError where a channel is not there, or there is none at all.
        """
        chosen = self._asked
        if chosen is None:
            chosen = {name: name for name in CHANNELS if name in names}
        if not chosen:
            raise CaptureError(
                f"it has {_listed(names)}; say which is which, such as --channels CRIT={_example(names)}."
            )
        indices = {ours: _index(chosen[ours], names) for ours in CHANNELS if ours in chosen}
        if len(set(indices.values())) != len(indices):
            raise CaptureError("two of our channels are one of the file's.")
        return indices


def _index(wanted: str, names: Sequence[str]) -> int:
    number = _DIGITAL.fullmatch(wanted)
    spellings = [wanted, *(alias.format(int(number[1])) for alias in _ALIASES if number)]
    for spelling in spellings:
        if names.count(spelling) == 1:
            return names.index(spelling)
    raise CaptureError(f"it has no channel {quoted(wanted)} (or several); it has {_listed(names)}.")


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no logic channels"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return "the channels " + ", ".join(quoted(name) for name in names[:_MOST_LISTED]) + more


def _example(names: Sequence[str]) -> str:
    return names[0] if names and names[0].isprintable() and len(names[0]) <= 40 else "D0"
