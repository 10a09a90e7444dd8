"""The catalogue of allocators: what it tells, and what it says of a row that cannot be used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from firmware.build import catalogue
from tests.tables import table

SOUND = """
[mine]
kind = "allocator"
locking = ["scheduler"]
allocate = "O(1)"
free = "O(n)"
licence = "MIT"
origin = "here"
knobs = { DEPTH = 3 }
promises = ["frees"]
search = [
  { function = "f", file = "a.c", statement = "x", instruction = 'a' },
  { function = "f", file = "a.c", statement = "y", times = 2, instruction = 'b' },
]
"""


def read(tmp_path: Path, text: str) -> catalogue.Allocator:
    path = tmp_path / "catalogue.toml"
    path.write_text(text)
    return catalogue.read(path)["mine"]


def test_a_row_is_read(tmp_path: Path) -> None:
    row = read(tmp_path, SOUND)
    assert (row.id, row.kind, row.lockings) == ("mine", "allocator", ("scheduler",))
    assert (row.allocate, row.free, row.licence, row.origin) == ("O(1)", "O(n)", "MIT", "here")
    assert dict(row.knobs) == {"DEPTH": 3}
    assert row.promises == {"frees"}


@table
def test_a_slip_is_told_with_file_and_key(tmp_path: Path, was: str, becomes: str, key: str) -> None:
    with pytest.raises(catalogue.CatalogueError) as refused:
        read(tmp_path, SOUND.replace(was, becomes))
    assert str(refused.value).startswith(f"{tmp_path / 'catalogue.toml'}: {key}")


def test_cmake_is_told_the_row() -> None:
    # -S: without the packages of this environment, which CMake's Python may not have.
    command = [sys.executable, "-S", "-m", "firmware.build.promises"]
    for name, row in catalogue.allocators().items():
        stdout = subprocess.run([*command, name], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        (promises,) = re.findall(r'tailscope_promises\("(.*)"\)', stdout)
        assert set(promises.split()) == row.promises
        knobs = re.findall(r"tailscope_knob\((\w+) ([0-9]+)\)", stdout)
        assert {knob: int(value) for knob, value in knobs} == row.knobs
    refused = subprocess.run([*command, "tlfs"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "ALLOCATOR, an id of heap/catalogue.toml" in refused.stderr
