"""The firmware of a stored run, built again: a run folder keeps its digest, not the file."""

from __future__ import annotations

from pathlib import Path

from analysis.errors import ExplainError
from base.heap_size import DEFAULT_BYTES
from base.run_folder.manifest import Manifest
from firmware.build import catalogue, outside
from firmware.build import image as firmware


def elf_of(manifest: Manifest) -> Path:
    """The firmware of the run, built again. Raises ExplainError if it comes out otherwise."""
    image = _built(manifest)
    ran = manifest.firmware.elf_sha256
    if image.sha256 != ran:
        raise ExplainError(
            f"The firmware of the run ({ran[:12]}) is not what the sources build now "
            f"({image.sha256[:12]}): check out those of the run, or run the scenario again."
        )
    return image.elf


def moved_elf_of(manifest: Manifest, shift_bytes: int) -> Path:
    """The same firmware, all code but the markers `shift_bytes` further on in the flash."""
    return _built(manifest, shift_bytes).elf


def _admit(manifest: Manifest) -> None:
    """Has this process know the allocator of the run, if it is from outside."""
    told = manifest.outside
    if told is None:
        return
    row = outside.read(Path(told.file), manifest.allocator)
    if row.source is None or row.source.sha256 != told.sha256:
        raise ExplainError(
            f"{told.file} was changed since the run (sha256 {told.sha256[:12]} then): bring that back, or "
            "run the scenario again."
        )
    catalogue.admit(row)


def _built(manifest: Manifest, shift_bytes: int = 0) -> firmware.FirmwareImage:
    _admit(manifest)
    knobs = {name: int(value) for name, value in manifest.turned_knobs.items() if value.isdecimal()}
    return firmware.build(
        manifest.allocator,
        manifest.built_accelerated,
        manifest.locking,
        knobs,
        manifest.firmware.kernel_calls,
        heap_bytes=manifest.firmware.heap_bytes or DEFAULT_BYTES,
        shift_bytes=shift_bytes,
    )
