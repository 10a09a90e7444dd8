"""The file of an anatomy: what is read back, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from base.anatomy import Anatomy, read, read_all
from base.files.documents import DocumentError

MADE_OF: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def written(run: Path, content: object) -> Path:
    path = run / "explain" / "allocate-anatomy.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    anatomy = read(written(tmp_path, MADE_OF))
    assert anatomy.model_dump(by_alias=True) == MADE_OF
    assert read_all(tmp_path) == {"allocate": anatomy}


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        {},
        MADE_OF | {"schema": 1},
        MADE_OF | {"cycles": -1},
        MADE_OF | {"calls": [{"name": "lunch"}]},
        MADE_OF | {"more": "than there may be"},
        MADE_OF | {"quantity": "free"},
    ],
)
def test_a_damaged_one_is_left_out(damaged: object, tmp_path: Path) -> None:
    path = written(tmp_path, damaged)
    assert read_all(tmp_path) == {}
    if damaged != MADE_OF | {"quantity": "free"}:
        with pytest.raises(DocumentError, match=r"allocate-anatomy\.json"):
            read(path)


def test_a_run_without_has_none(tmp_path: Path) -> None:
    assert read_all(tmp_path) == {}
    assert Anatomy.model_validate(MADE_OF).cycles == 120
