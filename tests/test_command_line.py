"""The commands as a user types them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from base.paths import ROOT


def lab(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "lab"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, cwd=folder
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
    here = lab("observe", "wire.vcd", "--json", folder=tmp_path)
    there = lab("observe", str(tmp_path / "wire.vcd"), "--json", folder=tmp_path / "base")
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


def test_the_script_passes_on_words_output_and_status() -> None:
    done = lab("scenario", "mem frga")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no scenario 'mem frga'" in done.stderr
