"""What is sent of a bring-up: all of the last run, and no name of anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture.checks.findings import make_parcel

SERIAL = "066DFF575251717867123456"


def test_it_has_page_figures_and_run_and_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "jane-desk")
    monkeypatch.setattr("getpass.getuser", lambda: "janedoe")
    monkeypatch.setenv("HOME", "/home/janedoe")
    page, run = tmp_path / "bring-up.html", tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    who = f"janedoe jane-desk /home/janedoe/x probe {SERIAL} port ttyACM0 mine-7"
    page.write_text(f"<p>{who}</p>")
    page.with_suffix(".json").write_text('{"schema": 1}')
    (run / "run.json").write_text(f'{{"probe": "{SERIAL}"}}')
    (run / "edges.parquet").write_bytes(b"PAR1\xff\x00\x01")
    (run / "capture.sr").write_bytes(b"PK\xff\x00" + SERIAL.encode())
    folder = make_parcel(page, run, names=("mine-7",))
    sent = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert sorted(sent) == ["bring-up.html", "bring-up.json", "edges.parquet", "run.json"]
    assert sent["edges.parquet"] == (run / "edges.parquet").read_bytes()
    for name in (SERIAL, "mine-7", "jane"):
        assert all(name.encode() not in content for content in sent.values())
    assert b"port ttyACM0" in sent["bring-up.html"]
