"""The file of an explanation: what it must hold, and what is said of one that does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from base.files.documents import DocumentError
from base.run_folder.explanation import (
    QuantityName,
    Replayed,
    Unreplayed,
    read,
    read_anatomy,
)
from base.run_folder.named_quantities import NAMED
from base.run_folder.quantities import KEYS

MADE: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
TOLD = MADE["unreplayed"]
REPLAYED = TOLD | MADE["replayed"]
MADE_OF = MADE["anatomy"]


def written(folder: Path, content: object) -> Path:
    path = folder / "interrupt.json"
    path.write_text(json.dumps(content, indent=0))
    return path


@pytest.mark.parametrize(("content", "kind"), [(TOLD, Unreplayed), (REPLAYED, Replayed)])
def test_what_is_read_is_what_was_written(tmp_path: Path, content: dict[str, Any], kind: type) -> None:
    explanation = read(written(tmp_path, content))
    assert isinstance(explanation, kind)
    assert json.dumps(explanation.document()) == json.dumps(content)


def test_a_file_longer_than_4_mib_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path, TOLD)
    path.write_text(path.read_text() + " " * (4 << 20))
    with pytest.raises(DocumentError, match="more than 4,194,304 bytes"):
        read(path)


def test_the_words_of_today_are_those_of_the_commands_and_of_run_json() -> None:
    for name, meant in NAMED.items():
        assert TypeAdapter(QuantityName).validate_python(name) == name == meant.name
        assert meant.key in KEYS
    with pytest.raises(ValidationError):
        TypeAdapter(QuantityName).validate_python("speed")


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        {},
        MADE_OF | {"schema": 99},
        MADE_OF | {"cycles": -1},
        MADE_OF | {"calls": [{"name": "lunch"}]},
        MADE_OF | {"more": "than there may be"},
        MADE_OF | {"quantity": "free"},
    ],
)
def test_an_anatomy_is_read_whole_or_left_out(damaged: object, tmp_path: Path) -> None:
    path = tmp_path / "explain" / "allocate-anatomy.json"
    assert read_anatomy(tmp_path, "allocate") is None
    path.parent.mkdir()
    path.write_text(json.dumps(MADE_OF))
    anatomy = read_anatomy(tmp_path, "allocate")
    assert anatomy is not None and anatomy.model_dump(by_alias=True) == MADE_OF
    path.write_text(json.dumps(damaged))
    assert read_anatomy(tmp_path, "allocate") is None
