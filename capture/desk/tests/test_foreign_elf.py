import hashlib
import struct
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.acquisition.pins import checked_digest
from tests.sentences import Sentences

ARM, X86_64, EXECUTABLE, OBJECT = 40, 62, 2, 1


def header(machine: int = ARM, kind: int = EXECUTABLE, entry: int = 0x0800_0101, segments: int = 1) -> bytes:
    """An ELF file of 32 bits with a segment of eight bytes (System V ABI, chapters 4 and 5)."""
    ident = b"\x7fELF\1\1\1" + bytes(9)
    numbers = (kind, machine, 1, entry, 52 if segments else 0, 0, 0, 52, 32, segments, 40, 0, 0)
    table = struct.pack("<8I", 1, 84, 0x0800_0000, 0x0800_0000, 8, 8, 5, 4) * segments
    return ident + struct.pack("<HHIIIIIHHHHHH", *numbers) + table + bytes(8) * segments


def test_an_executable_for_a_cortex_m_has_its_digest(tmp_path: Path) -> None:
    (tmp_path / "my.elf").write_bytes(header())
    assert checked_digest(tmp_path / "my.elf") == hashlib.sha256(header()).hexdigest()


@pytest.mark.parametrize(
    "content",
    [
        header(machine=X86_64),
        header(segments=0),
        header()[:-1],
        b"",
    ],
    ids=["another machine", "nothing to load", "cut", "empty"],
)
def test_anything_else_is_one_sentence(tmp_path: Path, content: bytes, sentences: Sentences) -> None:
    (tmp_path / "my.elf").write_bytes(content)
    with sentences.raised(CaptureError):
        checked_digest(tmp_path / "my.elf")
