"""Loading run folders: what is right is read, what is wrong is refused with a sentence."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.files.documents import Document
from base.files.errors import RunError
from base.run_folder.manifest import Manifest
from base.run_folder.quantities import KEYS
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from dashboards.pages.catalogue import run as page_of_run
from dashboards.tests.synthetic import Operation, mem_frag, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path, "mem_frag", "tlsf", mem_frag("tlsf", depths=4))


def test_a_run_is_read_as_it_was_written(folder: Path) -> None:
    run = load_run(folder)
    assert (run.id, run.manifest.scenario, run.manifest.allocator) == (folder.name, "mem_frag", "tlsf")
    assert len(run.operations) == 4 * 2 + 4 * 7
    assert len(run.measured_allocations) == 4 * 3
    assert run.manifest.statistics["dwt_cycles"].n == 12
    assert run.manifest.statistics["dwt_cycles"].p99 is None
    assert run.manifest.resolution_ns == pytest.approx(11.90, abs=0.01)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": NaN}', "[" * 100_000, '"\\ud800"', "{}"])
def test_no_manifest_text_does_worse_than_a_sentence(folder: Path, text: str) -> None:
    (folder / "run.json").write_text(text)
    with pytest.raises(RunError, match=r"run\.json"):
        load_run(folder)


SOUND = json.loads(
    (write_run(Path(tempfile.mkdtemp()), "s", "a", mem_frag("tlsf", 2)) / "run.json").read_text()
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["n", "max", *KEYS]), inner),
        max_leaves=8,
    ),
    st.sampled_from(sorted(SOUND)),
)
@settings(max_examples=60)
def test_any_value_in_any_field_is_read_or_refused(value: Any, key: str) -> None:
    try:
        manifest = Document(Path("run.json"), {**SOUND, key: value}, RunError).check(Manifest)
    except RunError as error:
        assert str(error).startswith("run.json: ")
    else:
        assert isinstance(manifest, Manifest)


def test_a_run_without_its_capture_is_shown_without_waveforms(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "tlsf", [Operation("A", 16, 1, 300)])
    (folder / "edges.parquet").unlink()
    run = load_run(folder)
    (series,) = by_scenario([run])["mem_stress"]
    assert run.edges is None
    assert "edges.parquet is missing: there are no waveforms." in str(page_of_run(series).blocks[0])


def test_a_truncated_run_may_lack_its_tables(tmp_path: Path) -> None:
    operations = [Operation("A", 16, 1, 300)]
    folder = write_run(tmp_path, "mem_stress", "tlsf", operations, verdict="truncated", reasons=("Cut.",))
    for name in ("operations", "interrupts", "edges"):
        (folder / f"{name}.parquet").unlink()
    run = load_run(folder)
    assert run.operations.is_empty() and run.interrupts.is_empty() and run.edges is None
    assert [note.split(":")[0] for note in run.notes] == [
        "operations.parquet is missing",
        "interrupts.parquet is missing",
    ]
