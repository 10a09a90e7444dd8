"""A build that another checkout kept is as good as one made here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from base.files import build_cache
from base.files.remembered import remembered


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build_cache, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(build_cache, "ROOT", tmp_path / "first")
    folder = tmp_path / "first" / "build"
    (folder / "objects").mkdir(parents=True)
    (folder / "objects" / "heap.obj").write_bytes(b"\0heap")
    (folder / "image.elf").write_bytes(b"\x7fELF")
    (folder / "image.elf").chmod(0o755)
    os.utime(folder / "image.elf", (1, 1))
    (folder / "placed-1.elf").write_bytes(b"\x7fELF")
    (folder / "build.ninja").write_text(f"build {tmp_path}/first/build/image.elf: link\n")
    build_cache.keep("digest", folder)
    return tmp_path / "cache"


@pytest.mark.usefixtures("cache")
def test_another_checkout_takes_the_build_with_paths_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_cache, "ROOT", tmp_path / "second")
    folder = tmp_path / "second" / "build"
    (folder / "old").mkdir(parents=True)
    assert build_cache.take("digest", folder)
    assert (folder / "objects" / "heap.obj").read_bytes() == b"\0heap"
    taken = (folder / "image.elf").stat()
    assert taken.st_mode & 0o777 == 0o755
    assert taken.st_mtime > 1, "sources of the second checkout are as old as the build"
    assert (folder / "build.ninja").read_text() == f"build {tmp_path}/second/build/image.elf: link\n"
    assert not (folder / "old").exists() and not (folder / "placed-1.elf").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["build"]


@pytest.mark.parametrize("entry", ["cut short", "absent"])
def test_what_is_not_whole_is_not_taken(cache: Path, tmp_path: Path, entry: str) -> None:
    (packed,) = (cache / "built").iterdir()
    if entry == "absent":
        packed.unlink()
    else:
        packed.write_bytes(packed.read_bytes()[:150])
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine").touch()
    assert not build_cache.take("digest", tmp_path / "here")
    assert (tmp_path / "here" / "mine").exists()
    assert not list(tmp_path.glob("*.taken"))


def test_a_cache_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setattr(build_cache, "CACHE", tmp_path / "cache")
    (tmp_path / "build").mkdir()
    build_cache.keep("digest", tmp_path / "build")
    assert not build_cache.take("digest", tmp_path / "other")


class Square:
    """Computes once for each call, and counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = folder / "code.py"
        self.code.write_text("first")
        self.times = 0

    def __call__(self, number: int) -> Any:
        def compute() -> list[int]:
            self.times += 1
            return [number * number]

        return remembered("squares", [str(number).encode()], [self.code], compute, self.folder)


@pytest.fixture
def square(tmp_path: Path) -> Square:
    return Square(tmp_path)


def kept(square: Square) -> list[Path]:
    return sorted((square.folder / "squares").iterdir())


def test_it_is_computed_once(square: Square) -> None:
    assert [square(3), square(3), square(4), square(3)] == [[9], [9], [16], [9]]
    assert square.times == 2 and len(kept(square)) == 2


def test_other_code_computes_again(square: Square) -> None:
    square(3)
    square.code.write_text("second")
    assert square(3) == [9] and square.times == 2


@pytest.mark.parametrize("damage", [b"", b"[9", b"\xff"])
def test_what_is_damaged_is_computed_again_and_replaced(square: Square, damage: bytes) -> None:
    square(3)
    kept(square)[0].write_bytes(damage)
    assert [square(3), square(3)] == [[9], [9]] and square.times == 2
