"""What the workers of this machine leave behind: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.campaign import cluster


def test_dask_leaves_nothing_where_the_command_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    monkeypatch.chdir(here)
    with cluster.local(scratch, 1) as workers:
        assert workers.room() == 1
        assert scratch.is_dir()
    assert not scratch.exists()
    assert not [*here.iterdir()]
