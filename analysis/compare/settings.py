"""The settings of runs, from all of run.json: how two differ, and what a gate asks of them.

A gate compares only where what the user chose is equal, and names beside the figures what the
sources and the tools decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from base.run_folder.channels import VIRTUAL_BOARD

if TYPE_CHECKING:
    from base.run_folder.manifest import Manifest

FIRMWARE = "firmware sha256"
BOARD_FOLDER = "board folder"
COMPILER = "compiler"
_DIGEST_SHOWN = 12


@dataclass(frozen=True)
class Change:
    """One setting that differs. None: the run does not tell, or has no such setting."""

    name: str
    a: str | None
    b: str | None

    def __str__(self) -> str:
        """`seed (not told) → 7`."""
        return f"{self.name} {cut(self.a)} → {cut(self.b)}"


def differing(a: Mapping[str, str | None], b: Mapping[str, str | None]) -> tuple[Change, ...]:
    """The settings, by name, in which `a` and `b` differ, those that a user chose first."""
    return tuple(
        Change(name, a.get(name), b.get(name))
        for name in dict.fromkeys((*a, *b))
        if a.get(name) != b.get(name)
    )


def cut(value: str | None) -> str:
    """A setting's value for a reader, a digest by its first digits."""
    if value is None:
        return "(not told)"
    is_digest = len(value) == 64 and set(value) <= set("0123456789abcdef")
    return f"{value[:_DIGEST_SHOWN]}…" if is_digest else value


def settings(manifest: Manifest) -> dict[str, str | None]:
    """Every setting of a run by its name. None is one that the run does not tell."""
    from base.run_folder.alike import parameters_of  # takes a while

    choice, firmware, outside = manifest.asked, manifest.firmware, manifest.outside
    flash_acr = firmware.flash_acr or choice.flash_acr
    heap_bytes = choice.heap_bytes if firmware.heap_bytes is None else firmware.heap_bytes
    stimulus = manifest.stimulus
    settings_by_name: dict[str, object] = {
        "scenario": manifest.scenario,
        "allocator": manifest.allocator,
        "allocator's file sha256": outside.sha256 if outside else None,
        **{f"parameter {name}": value for name, value in parameters_of(manifest).items()},
        "seed": manifest.seed,
        "stimulus": f"{stimulus.mode} {stimulus.period_ticks}, control {stimulus.control_period_ticks}, "
        f"parameter {stimulus.parameter}",
        "heap size": None if heap_bytes is None else f"{heap_bytes:,} bytes",
        **{f"knob {name}": value for name, value in manifest.knobs.items()},
        "locking": manifest.locking or choice.locking,
        "optimization": choice.optimization and f"-O{choice.optimization}",
        "FLASH_ACR": flash_acr,
        "core clock": None if firmware.core_hz is None else f"{firmware.core_hz:,} Hz",
        "records": manifest.records,
        "board": manifest.board,
        BOARD_FOLDER: manifest.board_folder,
        "analyzer": manifest.analyzer,
        "samplerate": f"{manifest.samplerate_hz:,} Hz",
        "imported file sha256": manifest.imported.sha256 if manifest.imported else None,
        "kernel": firmware.kernel or choice.kernel,
        "kernel's own calls": "measured" if firmware.kernel_calls else "not measured",
        "urgent task": "uses the heap" if firmware.urgent_task else "leaves the heap alone",
        "probes": manifest.probes_source,
        FIRMWARE: firmware.elf_sha256,
        **{
            f"allocator's {name.replace('_', ' ')}": f"{value:,}"
            for name, value in (manifest.footprint.model_dump() if manifest.footprint else {}).items()
        },
        **manifest.tools,
    }
    return {name: None if value is None else str(value) for name, value in settings_by_name.items()}


_CHOSEN = {
    *("scenario", "allocator", "board", BOARD_FOLDER, "seed", "stimulus", "heap size", "locking"),
    *("optimization", "FLASH_ACR", "core clock", "records", "analyzer", "samplerate"),
    *("kernel's own calls", "urgent task"),
}
_MADE_BY = {
    *(FIRMWARE, COMPILER, VIRTUAL_BOARD, "kernel", "allocator's file sha256", "probes"),
    *("pyocd", "openocd", "probe_rs", "jlink", "sigrok_cli", "libsigrok"),
}


def chosen_of(manifest: Manifest) -> dict[str, str]:
    """What the user chose: two runs are compared only where all of it is equal."""
    return {
        name: value
        for name, value in settings(manifest).items()
        if value is not None and (name in _CHOSEN or name.startswith(("parameter ", "knob ")))
    }


def made_by_of(manifest: Manifest) -> dict[str, str]:
    """What the sources and the tools decided. A difference here is named beside the figures."""
    from base.run_folder.manifest import SCHEMA  # takes a while

    made_by = {
        name: value for name, value in settings(manifest).items() if value is not None and name in _MADE_BY
    }
    return made_by | {"run.json schema": str(SCHEMA)}


def excuse_of(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Why what is slower need not be the allocator's doing, without its full stop; or nothing.

    The arguments are what made_by_of() tells.
    """
    if before.get(FIRMWARE) == now.get(FIRMWARE):
        return "The firmware is the same to the byte, so this is no change of the allocator"
    if before.get(COMPILER) != now.get(COMPILER):
        return "The compiler changed, so this may be its work and is not put down to the allocator"
    return ""
