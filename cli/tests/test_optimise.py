"""`./lab scenario --optimise`: a run for each -O, and its place beside the others."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from analysis.explain.replay import elf_of
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import read_manifest
from cli.shell import start
from tests import lab


def test_each_run_is_of_a_firmware_that_was_compiled_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--allocator", "seglist", "--parameter", "operations=200", "--capture", "direct")
    done = lab.run("scenario", "mem_stress", *words, "--optimise", "-O2,-Os", "--runs", tmp_path)
    assert done.returncode == 0, done.stderr
    usual, small = sorted(tmp_path.glob("*Z-mem_stress-*"), key=lambda folder: ".Os-" in folder.name)
    for folder, option in ((usual, "-O2"), (small, "-Os")):
        assert json.loads((folder / MANIFEST).read_text())["asked"]["optimization"] == option[2:]
        # GCC writes its command line down, and the replay builds the same firmware again.
        elf = elf_of(read_manifest(folder / MANIFEST))
        dump = subprocess.run(("arm-none-eabi-readelf", "--debug-dump=info", elf), capture_output=True)
        (producer, *_) = (line for line in dump.stdout.splitlines() if b"GNU C" in line and b"thumb" in line)
        assert [word for word in producer.decode().split() if word.startswith("-O")][-1] == option
    capsys.readouterr()
    assert start.run(["compare", str(usual), str(small), "--json"]) == 1  # slower
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert ["-O2", "-Os"] in [[row["a"], row["b"]] for row in pair["settings"]]
