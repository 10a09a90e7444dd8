"""What a run was made with: what must be as in the baseline, and what is named where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capture.run_folder.manifest import SCHEMA, Manifest

COMPILER = "compiler"
FIRMWARE = "firmware sha256"
VIRTUAL_BOARD = "virtual_nucleo"
_TOOLS = (VIRTUAL_BOARD, "pyocd", "sigrok_cli", "libsigrok")


@dataclass(frozen=True)
class Change:
    """One setting that differs from the baseline's; None where one side does not have it."""

    name: str
    before: str | None
    now: str | None

    def __str__(self) -> str:
        before, now = (_short(value) for value in (self.before, self.now))
        return f"{self.name} {before} → {now}"


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Change, ...]:
    """The settings in which two runs differ."""
    return tuple(
        Change(name, before.get(name), now.get(name))
        for name in dict.fromkeys((*before, *now))
        if before.get(name) != now.get(name)
    )


def chosen_of(manifest: Manifest) -> dict[str, str]:
    """What the user chose: two runs are compared only where all of it is equal."""
    stimulus, firmware = manifest.stimulus, manifest.firmware
    parameters = {name: value for name, value in manifest.parameters.items() if name != "trace"}
    told: dict[str, object] = {
        "scenario": manifest.scenario,
        "allocator": manifest.allocator,
        "board": manifest.board,
        **{f"parameter {name}": value for name, value in sorted(parameters.items())},
        "seed": manifest.seed,
        "stimulus": f"{stimulus.mode}:{stimulus.period_ticks},{stimulus.control_period_ticks}",
        "stimulus parameter": stimulus.parameter or None,
        "heap": firmware.heap_bytes,
        **{f"knob {name}": value for name, value in sorted(manifest.knobs.items())},
        "locking": manifest.locking,
        "FLASH_ACR": firmware.flash_acr,
        "core Hz": firmware.core_hz,
        "kernel calls": "yes" if firmware.kernel_calls else None,
        "records": manifest.records,
        "analyzer": manifest.analyzer,
        "samplerate Hz": manifest.samplerate_hz,
    }
    return _texts(told)


def made_by_of(manifest: Manifest) -> dict[str, str]:
    """What the sources and the tools decided. A difference here is named beside the figures."""
    asked, outside = manifest.asked, manifest.outside
    told: dict[str, object] = {
        FIRMWARE: manifest.firmware.elf_sha256,
        COMPILER: asked.compiler if asked else None,
        "kernel": manifest.firmware.kernel,
        "allocator's file sha256": outside.sha256 if outside else None,
        "probes": manifest.probes_source,
        **{name: manifest.tools.get(name) for name in _TOOLS},
        "run.json schema": SCHEMA,
    }
    return _texts(told)


def excuse_of(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Why what is slower need not be the allocator's doing, without its full stop; or nothing.

    The arguments are what made_by_of() tells.
    """
    if before.get(FIRMWARE) == now.get(FIRMWARE):
        return "The firmware is the same to the byte, so this is no change of the allocator"
    if before.get(COMPILER) != now.get(COMPILER):
        return "The compiler changed, so this may be its work and is not put down to the allocator"
    return ""


def _texts(told: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in told.items() if value is not None}


def _short(value: str | None) -> str:
    """A digest by its first digits."""
    if value is None:
        return "(not told)"
    return value[:12] if len(value) == 64 and value.isalnum() else value
