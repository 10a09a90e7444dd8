"""What is kept is given again, unless the question or a source changed, or the file is damaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from studies.reproduce import kept
from studies.reproduce.kept import Kept, digest

MEASURED: list[int] = []


@dataclass(frozen=True)
class Counting:
    number: int

    def measure(self) -> pl.DataFrame:
        MEASURED.append(self.number)
        return pl.DataFrame({"number": [self.number, None], "half": [self.number / 2, 0.1]})


@pytest.fixture(autouse=True)
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one source."""
    MEASURED.clear()
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "one.c").write_text("int one;", encoding="utf-8")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "SOURCES", ("source",))
    kept.sources_digest.cache_clear()
    return tmp_path / "source"


def test_it_is_measured_once(tmp_path: Path) -> None:
    lines: list[str] = []
    first = Kept(tmp_path / "kept", lines.append)(Counting(3))
    again = Kept(tmp_path / "kept", lines.append)(Counting(3))
    assert first.equals(again)
    assert (MEASURED, lines) == ([3], ["Counting(number=3)"])
    assert Kept(tmp_path / "kept")(Counting(4))["number"][0] == 4


def test_a_source_that_changed_is_measured_anew(sources: Path) -> None:
    before = digest(Counting(3))
    kept.sources_digest.cache_clear()
    assert digest(Counting(3)) == before
    (sources / "page.md").write_text("no source", encoding="utf-8")
    kept.sources_digest.cache_clear()
    assert digest(Counting(3)) == before
    (sources / "one.c").write_text("int two;", encoding="utf-8")
    kept.sources_digest.cache_clear()
    assert digest(Counting(3)) != before


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"PAR1"])
def test_a_damaged_result_is_measured_anew(tmp_path: Path, damage: bytes) -> None:
    keep = Kept(tmp_path / "kept")
    keep(Counting(3))
    (path,) = (tmp_path / "kept").glob("*.parquet")
    path.write_bytes(damage)
    assert keep(Counting(3))["half"].to_list() == [1.5, 0.1]
    assert MEASURED == [3, 3]
