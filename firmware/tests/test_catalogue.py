"""The catalogue of allocators: what it tells, and what it says of a row that cannot be used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firmware import catalogue

ROOT = Path(catalogue.__file__).parents[1]
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


def test_an_index_promises_all_and_works_under_every_lock() -> None:
    row = catalogue.allocators()["seglist"]
    assert row.promises == set(catalogue.PROMISES)
    assert row.lockings == ("basepri", "primask", "scheduler")


def test_a_checkout_is_looked_for_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert read(tmp_path, SOUND).missing_checkout() is None
    row = read(tmp_path, SOUND + 'checkout = "MY_SOURCES"\n')
    monkeypatch.delenv("MY_SOURCES", raising=False)
    assert row.missing_checkout() == (
        "mine is compiled from a checkout of your own (here): set MY_SOURCES to its folder."
    )
    monkeypatch.setenv("MY_SOURCES", str(tmp_path))
    assert row.missing_checkout() is None


def test_rows_are_sorted() -> None:
    assert list(catalogue.allocators()) == sorted(catalogue.allocators())


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        (
            'kind = "allocator"',
            'kind = "buddy"',
            "kind is 'buddy': say one of index, allocator, third-party.",
        ),
        ('licence = "MIT"', "", "must say licence."),
        ('["scheduler"]', '["mutex"]', "locking is 'mutex': say one of basepri, primask, scheduler."),
        ('["frees"]', '["flies"]', "promises is 'flies': say one of frees,"),
        ('["frees"]', '"frees"', "promises must be a list of frees,"),
        ("DEPTH = 3", "DEPTH = -3", "knobs must map names to whole numbers."),
        ('origin = "here"', 'origin = "here"\ncolour = 1', "has the unknown key 'colour'."),
        ('origin = "here"', 'origin = "here"\ncheckout = ""', "must say checkout."),
        ("[mine]", "[mine", "cannot be read"),
    ],
)
def test_a_row_that_cannot_be_used_is_said(tmp_path: Path, was: str, becomes: str, says: str) -> None:
    with pytest.raises(catalogue.CatalogueError) as refused:
        read(tmp_path, SOUND.replace(was, becomes))
    assert says in str(refused.value)


def test_cmake_is_told_the_promises() -> None:
    command = [sys.executable, "-m", "firmware.catalogue", "promises"]
    told = subprocess.run([*command, "tlsf"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.split() == list(catalogue.PROMISES)
    refused = subprocess.run([*command, "tlfs"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "ALLOCATOR, an id of heap/catalogue.toml" in refused.stderr
