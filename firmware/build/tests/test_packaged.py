"""What a package brings is found by its name and definitions; damage is told with the file."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from firmware.build import packaged
from firmware.build.packaged import PackagedError

CHOSEN = {"TAILSCOPE_ALLOCATOR": "tlsf", "TAILSCOPE_HEAP_BYTES": 65536}


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an image that is packaged."""
    built = tmp_path / "tlsf"
    built.mkdir()
    (built / packaged.ELF).write_bytes(b"elf")
    (built / packaged.FOOTPRINT).write_bytes(b"footprint")
    packaged.write(tmp_path / "images" / "tlsf", CHOSEN, "ab" * 32, "V11.2.0", (4, 8))
    packaged.pack(tmp_path / packaged.ELF_FILES, {"tlsf": built}, (packaged.ELF, packaged.FOOTPRINT))
    monkeypatch.setattr(packaged, "BUILD", tmp_path / "unpacked")
    monkeypatch.setattr(packaged, "INSTALLED", True)
    monkeypatch.setattr(packaged, "ROOM", tmp_path)
    return tmp_path / "images" / "tlsf"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with one heap for a PC."""
    if platform.machine() != "x86_64":
        pytest.skip("The heaps for a PC are programs for x86.")
    folder = tmp_path / "tlsf-65536"
    folder.mkdir()
    for name in packaged.HOST_FILES:
        (folder / name).write_text(f"#!/bin/sh\necho {name}\n")
    file = tmp_path / packaged.HOST_PROGRAMS
    packaged.pack(file, {"tlsf-65536": folder}, packaged.HOST_FILES)
    monkeypatch.setattr(packaged, "INSTALLED", True)
    monkeypatch.setattr(packaged, "ROOM", tmp_path)
    monkeypatch.setattr(packaged, "BUILD", tmp_path / "unpacked")
    return file


@pytest.mark.usefixtures("image")
def test_an_image_is_found_by_all_that_was_chosen() -> None:
    packaged_build = packaged.find("tlsf", CHOSEN)
    assert packaged_build is not None
    described = {"sha256": "ab" * 32, "kernel": "V11.2.0", "looks": (4, 8)}
    assert packaged_build == {"elf": packaged_build["elf"], **described}
    assert packaged_build["elf"].read_bytes() == b"elf"
    assert packaged_build["elf"].with_name(packaged.FOOTPRINT).read_bytes() == b"footprint"
    assert packaged.holds(packaged_build["elf"])
    assert packaged.find("seglist", CHOSEN) is None
    assert packaged.find("tlsf", {**CHOSEN, "TAILSCOPE_HEAP_BYTES": 32768}) is None
    assert packaged.find("tlsf", {**CHOSEN, "FREERTOS_KERNEL_PATH": "/mine"}) is None


@pytest.mark.parametrize("content", ["", "[]", "{}", json.dumps({"definitions": CHOSEN})])
def test_a_damaged_image_is_told(image: Path, content: str) -> None:
    (image / "image.json").write_text(content)
    if content == json.dumps({"definitions": CHOSEN}):
        assert packaged.find("tlsf", CHOSEN) is None  # numbers where words are written: another choice
        return
    with pytest.raises(PackagedError, match=r"image\.json is damaged: install the package again"):
        packaged.find("tlsf", CHOSEN)


@pytest.mark.usefixtures("image")
def test_what_cannot_be_unpacked_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "unpacked").touch()
    with pytest.raises(PackagedError, match="TAILSCOPE_CACHE"):
        packaged.find("tlsf", CHOSEN)


def test_a_heap_for_a_pc_is_unpacked_once(archive: Path) -> None:
    folder = packaged.host_program("tlsf-65536")
    assert folder is not None
    program = folder / packaged.HOST_FILES[0]
    assert program.read_text() == "#!/bin/sh\necho trace_replay\n"
    assert program.stat().st_mode & 0o111
    packed = archive.read_bytes()
    archive.write_bytes(b"gone since")
    assert packaged.host_program("tlsf-65536") == folder
    program.chmod(0o600)  # as of one that was stopped while it unpacked
    (folder / packaged.HOST_FILES[1]).unlink()
    archive.write_bytes(packed)
    assert packaged.host_program("tlsf-65536") == folder
    assert program.stat().st_mode & 0o111
