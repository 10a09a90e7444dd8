"""A program whose masked sections have lengths that one can count, compiled."""

from __future__ import annotations

from pathlib import Path

from quality.soundness.compiling import compiled

SOURCE = Path(__file__).parent / "main.c"


def build(folder: Path, *options: str, source: Path = SOURCE) -> Path:
    """The ELF file, made in `folder` of main.c or of another `source`."""
    return compiled(source, folder, *options)


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    """The ELF file of a main.c that has the second of each pair for the first."""
    text = SOURCE.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder.mkdir(exist_ok=True)
    source = folder / "main.c"
    source.write_text(text, encoding="utf-8")
    return build(folder, "-Wno-unused-function", source=source)


def line_of(text: str, nth: int = 0) -> int:
    """The number of the line of main.c that has `text`; the nth of several, from 0."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, start=1) if text in line][nth]
