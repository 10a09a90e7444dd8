"""What of an ELF file goes into the chip's memory, and where."""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.files.errors import CaptureError
from base.files.whole import why


def pieces(elf: Path) -> list[tuple[int, bytes]]:
    """Addresses in rising order and the bytes from each on, of all loadable segments that have any.

    Segments that touch are one piece. Raises CaptureError.
    """
    try:
        with elf.open("rb") as file:
            segments = [
                (int(segment["p_paddr"]), bytes(segment.data()))
                for segment in ELFFile(file).iter_segments("PT_LOAD")
                if segment["p_filesz"]
            ]
    except OSError as error:
        raise CaptureError(f"{elf} cannot be read: {why(error)}.") from None
    except DAMAGED:
        raise CaptureError(f"{elf} is a damaged ELF file; link it again.") from None
    if not segments:
        raise CaptureError(f"{elf} has nothing to load; link it again.")
    return _joined(sorted(segments))


def _joined(segments: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    joined: list[tuple[int, bytes]] = []
    for address, content in segments:
        if joined and joined[-1][0] + len(joined[-1][1]) == address:
            joined[-1] = joined[-1][0], joined[-1][1] + content
        else:
            joined.append((address, content))
    return joined
