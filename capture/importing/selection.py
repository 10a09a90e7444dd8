"""Which of a file's channels are looked at, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from base.files.complaints import quoted
from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS, MOST_CHANNELS

# How tools call what sigrok calls D3: Saleae's CSV, its binary files, a bare number.
_DIGITAL = re.compile(r"D([0-9]{1,2})")
_ALIASES = ("Channel {}", "digital_{}", "{}")
_MOST_LISTED = 16
# That are looked up to see which are one net.
_MOST_NAMES = 256

Net = TypeVar("Net", bound=Hashable)


class Selection:
    """The names that a user gave to the file's channels: `names` has ours and the file's.

    None takes those that are called as CHANNELS are; without such, all of a file that has no more
    than eight, under their own names.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        if names is not None and len(names) > MOST_CHANNELS:
            raise CaptureError(
                f"{len(names)} channels are named, and at most {MOST_CHANNELS} are read at a time."
            )
        self._names = names

    def among(self, names: Sequence[str]) -> dict[str, int]:
        """The index in `names` of each channel, those of CHANNELS in their order before the others.

        Raises CaptureError where a channel is not there, or there is none at all.
        """
        return self.nets(lambda wanted: [at for at, name in enumerate(names) if name == wanted], names)[0]

    def nets(
        self, find: Callable[[str], list[Net]], names: Sequence[str]
    ) -> tuple[dict[str, Net], dict[str, str]]:
        """What `find` has for each channel, and the file's name of it. `names` are the file's own.

        Raises CaptureError as among() does.
        """
        chosen = self._names
        if chosen is None:
            chosen = {name: name for name in CHANNELS if find(name)}
        if not chosen and len(names) <= _MOST_NAMES:
            first = {net: name for name in reversed(names) for net in find(name)}
            if len(first) <= MOST_CHANNELS:
                chosen = {name: name for name in names if name in first.values()}
        if not chosen:
            raise CaptureError(
                f"it has {_listed(names)}; say which is which, such as --channels CRIT={_example(names)}."
            )
        order = sorted(chosen, key=lambda name: CHANNELS.index(name) if name in CHANNELS else len(CHANNELS))
        nets: dict[str, Net] = {}
        for name in order:
            several = next(filter(None, map(find, _spellings(chosen[name]))), [])
            if len(several) != 1:
                what = "several channels" if several else "no channel"
                raise CaptureError(f"it has {what} {quoted(chosen[name])}; it has {_listed(names)}.")
            nets[name] = several[0]
        if len(set(nets.values())) != len(nets):
            raise CaptureError("two of the channels that are named are one of the file's.")
        return nets, {name: chosen[name] for name in order}


def _spellings(wanted: str) -> list[str]:
    number = _DIGITAL.fullmatch(wanted)
    return [wanted, *(alias.format(int(number[1])) for alias in _ALIASES if number)]


def by_path(paths: Iterable[str]) -> Callable[[str], list[int]]:
    """Finds the numbers of those `paths` that are a name, or end in it behind a point."""
    every = list(paths)

    def find(name: str) -> list[int]:
        whole = [number for number, path in enumerate(every) if path == name]
        return whole or [number for number, path in enumerate(every) if path.endswith(f".{name}")]

    return find


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no logic channels"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return "the channels " + ", ".join(quoted(name) for name in names[:_MOST_LISTED]) + more


def _example(names: Sequence[str]) -> str:
    return names[0] if names and names[0].isprintable() and len(names[0]) <= 40 else "D0"
