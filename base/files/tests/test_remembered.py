from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from base.files.remembered import remembered


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
