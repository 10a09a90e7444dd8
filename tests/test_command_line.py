"""The commands as a user types them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from base.paths import ROOT
from tests import lab as in_a_fork
from tests.processes import MARKER, PATIENCE_S, processes_of, sigrok_is_running, wait_until


def lab(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "lab"), *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


WIRE = """\
$timescale 1 us $end
$var wire 1 ! CRIT $end
$enddefinitions $end
#0
0!
#10
1!
#14
0!
#20
"""


def test_paths_are_of_the_folder_where_the_user_stands(tmp_path: Path) -> None:
    """What lies there is neither taken for the bench's own modules nor written beside the bench."""
    (tmp_path / "wire.vcd").write_text(WIRE, encoding="utf-8")
    (tmp_path / "cli.py").write_text("raise SystemExit('a module of the user')\n", encoding="utf-8")
    (tmp_path / "base").mkdir()
    shutil.copy(tmp_path / "cli.py", tmp_path / "base" / "__init__.py")
    here, there = (
        subprocess.run(
            [str(ROOT / "lab"), "observe", name, "--json"],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        for name, folder in (("wire.vcd", tmp_path), (str(tmp_path / "wire.vcd"), tmp_path / "base"))
    )
    assert here.stdout, here.stderr
    documents = [json.loads(done.stdout) for done in (here, there)]
    for document in documents:
        shutil.rmtree(document.pop("folder"))
        assert document["widths_ns"]["CRIT"]["max"] == 4000.0
    assert documents[0] == documents[1] and here.returncode == there.returncode


def test_the_inventory_is_json() -> None:
    document = json.loads(lab("list", "--json").stdout)
    assert {entry["name"] for entry in document["scenarios"]} >= {"mem_stress", "mem_frag"}
    described = {entry["id"]: entry for entry in document["allocators"]}
    assert described["tlsf"]["kind"] == "index"
    assert (described["seglist"]["allocate"], described["seglist"]["free"]) == ("O(n)", "O(1)")
    assert described["heap_4"]["locking"] == ["scheduler"]
    assert "crate rlsf" in described["rlsf"]["origin"]
    assert all(entry["licence"] for entry in described.values())
    assert [entry["samplerate_hz"] for entry in document["boards"] if entry["name"] == "virtual"] == [
        84_000_000
    ]


def test_the_doctor_names_every_tool() -> None:
    done = lab("doctor")
    packages = [
        line.split("\t")[1] for line in (ROOT / "cli/tools.tsv").read_text().splitlines() if "\t" in line
    ]
    assert done.returncode == 0
    for package in packages[1:]:
        assert package in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("scenario", "mem_frga"), "Did you mean mem_frag?"),
        (("scenario", "mem_frag", "--allocator", "tslf"), "no allocator 'tslf'"),
        (("scenario", "mem_frag", "--samplerate", "fast"), "--samplerate fast: give samples per second"),
        (("scenario", "mem_frag", "--board", "nucelo"), "Did you mean nucleo?"),
        (("scenario", "mem_frag", "--parameter", "dept=3"), "depth"),
        (("dashboard", "no/such/run"), "no/such/run"),
        (("dev", "faults", "no/such/run"), "no/such/run"),
        (("dev", "faults", "--n", "0"), "--n 0: give 1 or more"),
        (("dashboard", "one", "two", "--output=build/x.html"), "one"),
        (("dashboard", "--output", "build/x.html", "one"), "one"),
        (("test", "captrue"), "no room 'captrue': choose analysis, base, capture, ci, cli"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    done = in_a_fork.run(*words)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_script_passes_on_words_output_and_status() -> None:
    done = lab("scenario", "mem frga")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no scenario 'mem frga'" in done.stderr


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_the_run_and_ends_the_campaign(tmp_path: Path) -> None:
    """As from a terminal: every process of the group gets the signal."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [str(ROOT / "lab"), "scenario", "mem_frag", "--parameter", "trials=40", "--runs", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, MARKER: mark},
    )
    assert wait_until(lambda: sigrok_is_running(mark))
    time.sleep(1.0)  # samples have begun to arrive
    os.killpg(process.pid, signal.SIGINT)
    words, complaints = process.communicate(timeout=PATIENCE_S)
    folders = [Path(line) for line in words.splitlines() if line.endswith("-virtual")]
    assert process.returncode == 130 and "Traceback" not in complaints
    assert complaints.count("Stopped by Ctrl-C; what was recorded is kept in ") == 1
    assert len(folders) == 1
    manifest = json.loads((folders[0] / "run.json").read_text(encoding="utf-8"))
    assert manifest["verdict"] == "truncated"
    assert any("interrupted" in reason for reason in manifest["reasons"])
    assert wait_until(lambda: not processes_of(mark))
