"""The bounds of a built image, computed once: only then what computes them is imported."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from base.files.remembered import remembered
from base.run_folder.manifest import SectionBound
from base.run_folder.records import Boot
from firmware.build.image import FirmwareImage


def bounds_of_run(image: FirmwareImage, _boot: Boot) -> dict[str, SectionBound]:
    """The bounds of an image, by function: they follow from it alone, and take a while. What the
    firmware says of itself may be damaged and is not looked at.
    """
    built = image.configuration
    words = (built.locking, repr(tuple(built.knobs.items())), repr(built.flash_acr), built.board)
    of = (image.sha256, image.allocator, *words, version("capstone"))

    def computed() -> dict[str, Any]:
        from analysis.bounds.image import bounds_of

        section_bounds = bounds_of(
            image.elf, image.allocator, built.locking, built.knobs, built.flash_acr, built.board
        )
        return {name: bound.model_dump() for name, bound in section_bounds.items()}

    content = remembered("bounds", [word.encode() for word in of], _code(), computed)
    return {name: SectionBound(**bound) for name, bound in content.items()}


def _code() -> list[Path]:
    """The files that decide a bound."""
    here = Path(__file__).parent
    return [*(path for path in here.iterdir() if path.is_file()), here.parent / "explain" / "program.py"]
