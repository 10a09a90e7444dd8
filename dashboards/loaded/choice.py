"""Which of many runs are shown: the latest of each scenario, allocator and options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from capture.run_folder import folder as names
from capture.run_folder.manifest import Manifest, read_manifest


def options(manifest: Manifest) -> dict[str, str]:
    """What `./lab scenario` was asked for, beside the allocator and its configuration."""
    told = {
        "board": manifest.board,
        "seed": manifest.seed,
        **manifest.parameters,
        "stimulus": manifest.stimulus.mode,
        "period": manifest.stimulus.period_ticks,
        "samplerate": manifest.samplerate_hz,
        "records": manifest.records,
    }
    return {name: str(value) for name, value in told.items()}


def latest(folders: Sequence[Path]) -> list[Path]:
    """Of the run folders `folders`, oldest first, the last of each kind. Raises RunError."""
    last: dict[tuple[object, ...], Path] = {}
    for folder in folders:
        manifest = read_manifest(folder / names.MANIFEST)
        kind = (manifest.scenario, manifest.configuration, *sorted(options(manifest).items()))
        last[kind] = folder
    chosen = set(last.values())
    return [folder for folder in folders if folder in chosen]
