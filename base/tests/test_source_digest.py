"""What a digest of a room is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from base import source_digest

ROOMS = ("simulator", "firmware")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name in ("simulator/src/main.rs", "simulator/target/made", "firmware/heap/heap.c", "firmware/.made"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def digests(root: Path) -> dict[str, str]:
    source_digest.digest.cache_clear()
    return {room: source_digest.digest(room, root) for room in ROOMS}


def test_a_digest_is_of_what_is_written_and_not_of_what_is_made(sources: Path) -> None:
    before = digests(sources)
    (sources / "simulator/target/made").write_text("other")
    (sources / "firmware/.made").unlink()
    assert digests(sources) == before
    (sources / "firmware/heap/heap.c").rename(sources / "firmware/heap/other.c")
    assert digests(sources)["firmware"] != before["firmware"]
    assert digests(sources)["simulator"] == before["simulator"]
    (sources / "simulator/src/main.rs").write_text("other")
    assert digests(sources)["simulator"] != before["simulator"]
