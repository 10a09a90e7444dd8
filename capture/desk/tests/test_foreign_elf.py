import hashlib
import struct
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.foreign_elf import checked_digest
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


def test_the_entry_of_the_file_is_not_asked_for(tmp_path: Path) -> None:
    """The core begins at its vector table. A linker script without ENTRY may leave any address."""
    (tmp_path / "my.elf").write_bytes(header(entry=0x0800_0000))
    checked_digest(tmp_path / "my.elf")


@pytest.mark.parametrize(
    "content",
    [
        header(machine=X86_64),
        header(kind=OBJECT),
        header(segments=0),
        header()[:-1],
        header()[:20],
        b":10000000",
        b"",
    ],
    ids=["another machine", "object", "nothing to load", "cut", "damaged", "Intel HEX", "empty"],
)
def test_anything_else_is_one_sentence(tmp_path: Path, content: bytes, sentences: Sentences) -> None:
    (tmp_path / "my.elf").write_bytes(content)
    with sentences.raised(CaptureError):
        checked_digest(tmp_path / "my.elf")


@pytest.mark.parametrize("name", ["none.elf", "."])
def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path, name: str, sentences: Sentences) -> None:
    with sentences.raised(CaptureError):
        checked_digest(tmp_path / name)
