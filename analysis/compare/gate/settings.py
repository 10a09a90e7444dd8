"""The settings of a run: those that must equal the baseline's, and those that it only names."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.compare.settings import COMPILER, FIRMWARE, settings
from base.run_folder.manifest import SCHEMA, VIRTUAL_BOARD, Manifest

_CHOSEN = frozenset(
    (
        *("scenario", "allocator", "board", "seed", "stimulus", "heap size", "locking", "FLASH_ACR"),
        *("core clock", "records", "analyzer", "samplerate", "kernel's own calls"),
    )
)
_MADE_BY = frozenset(
    (
        *(FIRMWARE, COMPILER, VIRTUAL_BOARD, "kernel", "allocator's file sha256", "probes"),
        *("pyocd", "sigrok_cli", "libsigrok"),
    )
)


def chosen_of(manifest: Manifest) -> dict[str, str]:
    """The user's choices by name. The gate compares two runs only if all of them are equal."""
    return {name: value for name, value in _told(manifest).items() if _is_chosen(name)}


def made_by_of(manifest: Manifest) -> dict[str, str]:
    """What sources and tools decided, by name. The gate names a difference beside the figures."""
    told = {name: value for name, value in _told(manifest).items() if name in _MADE_BY}
    return {**told, "run.json schema": str(SCHEMA)}


def _told(manifest: Manifest) -> dict[str, str]:
    return {name: value for name, value in settings(manifest).items() if value is not None}


def _is_chosen(name: str) -> bool:
    return name in _CHOSEN or name.startswith(("parameter ", "knob "))


def excuse_of(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Why what is slower need not be the allocator's doing, without its full stop; or nothing.

    The arguments are what made_by_of() tells.
    """
    if before.get(FIRMWARE) == now.get(FIRMWARE):
        return "The firmware is the same to the byte, so this is no change of the allocator"
    if before.get(COMPILER) != now.get(COMPILER):
        return "The compiler changed, so this may be its work and is not put down to the allocator"
    return ""
