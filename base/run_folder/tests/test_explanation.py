"""The file of an explanation: what it must hold, and what is said of one that does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from base.files.documents import DocumentError
from base.run_folder.explanation import QuantityName, Replayed, Unreplayed, read
from base.run_folder.named_quantities import NAMED
from base.run_folder.quantities import KEYS

TOLD: dict[str, Any] = {
    "schema": 2,
    "quantity": "interrupt",
    "key": "@900",
    "value_ns": 119.05,
    "maximum": {
        "value": 119.05,
        "times": 1,
        "seq": None,
        "kind": None,
        "size": None,
        "label": None,
        "depth": None,
        "trial": None,
        "probes": None,
        "live": None,
        "bytes_in_use": None,
        "start_sample": None,
        "sample": 900,
    },
    "allocator": "tlsf",
    "scenario": "mem_frag",
    "verdict": "complete",
    "samplerate_hz": 84_000_000,
    "start_sample": 900,
    "end_sample": 910,
    "window": {"first_sample": 564, "end_sample": 1_246, "edges": [[564, 0], [900, 4]]},
    "replayed": False,
    "unknown": ["A board on the desk cannot be run again."],
    "start_ns": 10_714.3,
    "begins": "STIM rises",
    "ends": "ISR rises",
    "place": "between operations",
    "operation": None,
    "previous": None,
    "next": None,
}
REPLAYED: dict[str, Any] = TOLD | {
    "replayed": True,
    "unknown": [],
    "cycles": 10,
    "instructions": 4,
    "moment": {"sample": 905, "cycle": 905},
    "stack": [{"address": 0x0800_0100, "place": "main+0x4", "source": "main.c:7"}],
    "functions": [{"name": "main", "executions": 4, "cycles": 10, "source": ""}],
    "dearest": [],
    "heap": {"region_bytes": 8, "pieces": [{"offset": 0, "bytes": 8, "what": "free"}], "note": "read"},
}


def written(folder: Path, content: object) -> Path:
    path = folder / "interrupt.json"
    path.write_text(json.dumps(content, indent=0))
    return path


@pytest.mark.parametrize(("content", "kind"), [(TOLD, Unreplayed), (REPLAYED, Replayed)])
def test_what_is_read_is_what_was_written(tmp_path: Path, content: dict[str, Any], kind: type) -> None:
    explanation = read(written(tmp_path, content))
    assert isinstance(explanation, kind)
    assert json.dumps(explanation.document()) == json.dumps(content)


def test_the_words_of_today_are_those_of_the_commands_and_of_run_json() -> None:
    for name, meant in NAMED.items():
        assert TypeAdapter(QuantityName).validate_python(name) == name == meant.name
        assert meant.key in KEYS
    with pytest.raises(ValidationError):
        TypeAdapter(QuantityName).validate_python("speed")


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner))


@given(
    st.sampled_from([TOLD, REPLAYED]), st.dictionaries(st.sampled_from(sorted(REPLAYED)), TREES, min_size=1)
)
def test_no_damage_ends_in_another_exception(
    tmp_path_factory: pytest.TempPathFactory, sound: dict[str, Any], damage: dict[str, Any]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), sound | damage)
    try:
        assert read(path).quantity is not None
    except DocumentError as error:
        assert str(error).isprintable() and str(error)[-1] in ".?"
