"""What every list calls the configuration of a run."""

from __future__ import annotations

from ..run_folder.manifest import Manifest


def configuration(manifest: Manifest) -> str:
    """The allocator and what is not as usual; and of a capture of another tool, its file."""
    if manifest.imported is None:
        return manifest.configuration
    return f"{manifest.configuration}, imported from {manifest.imported.file}"
