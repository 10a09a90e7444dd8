"""The tests of decoders/upstream, and what libsigrokdecode's maintainers ask of a decoder.

The tests are in the form of sigrok-test's README, whose own `pdtest -f` wrote the files that they
are held to. `pdtest` starts a program that has to be compiled; sigrok-cli says the same at its log
level 4, but for the sample numbers of binary output. The rules are those of libsigrokdecode's
HACKING.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from base.run_folder.session_file import read_sr
from decoders import pulseview
from decoders.tests import sigrok

IDS = ("critical_section", "irq_latency")
TESTS = sigrok.UPSTREAM / "sigrok-test" / "decoder" / "test"
OLDEST = (3, 8)
TAGS = {"Analog/digital", "Clock/timing", "Debug/trace", "Embedded/industrial", "Encoding", "Util"}

Lines = list[list[str]]


def cases(decoder: str) -> list[Lines]:
    """The tests of a decoder: their lines, in words."""
    blocks = (TESTS / decoder / "test.conf").read_text(encoding="utf-8").split("\n\n")
    return [[line.split() for line in block.splitlines()] for block in blocks]


OUTPUTS = [
    (decoder, case, output)
    for decoder in IDS
    for case in cases(decoder)
    for output in case[3:]
    if "exception" not in output
]


@pytest.mark.parametrize(
    ("decoder", "case", "output"), OUTPUTS, ids=lambda value: value[-1][-1] if value else ""
)
def test_sigrok_says_what_the_maintainers_runner_wrote(decoder: str, case: Lines, output: list[str]) -> None:
    dump = sigrok.DUMPS / case[2][1]
    names, words = read_sr(dump).channels, case[1][2:]
    choices = [decoder]
    for kind, choice in zip(words[::2], words[1::2], strict=True):
        name, _, value = choice.partition("=")
        choices.append(f"{name}={names[int(value)] if kind == 'channel' else value}")
    shown = "=".join([decoder, *output[4:5]]) if "class" in output else decoder
    way = ("-B", shown) if output[2] == "binary" else ("-A", shown, "--loglevel", "4")
    expected = (TESTS / decoder / output[-1]).read_text(encoding="utf-8")
    if output[2] == "binary":
        expected = " ".join(line.split(": ")[1] for line in expected.splitlines())
    text = sigrok.said(dump, ":".join(choices), *way)
    assert re.sub(rf"(?m)^(\d+-\d+ {decoder})-1:", r"\1:", text) == expected != ""


@pytest.mark.parametrize("decoder", IDS)
def test_a_capture_without_a_samplerate_is_refused_by_its_own_error(decoder: str, tmp_path: Path) -> None:
    """As the last case of each has it; sigrok-dumps has the file, for which this one stands in."""
    assert cases(decoder)[-1][3] == ["output", decoder, "exception", "match", "SamplerateError"]
    device = "capturefile=logic-1\ntotal probes=2\ntotal analog=0\nprobe1=0\nprobe2=1\nunitsize=1"
    with zipfile.ZipFile(tmp_path / "no-samplerate.sr", "w") as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", f"[global]\nsigrok version=0.5.2\n\n[device 1]\n{device}\n")
        archive.writestr("logic-1-1", bytes([0, 1, 2, 3] * 9))
    channels = sigrok.loaded(decoder).Decoder.channels
    wired = [f"{channel['id']}={number}" for number, channel in enumerate(channels)]
    with pytest.raises(CaptureError, match=r"SamplerateError: Cannot decode without samplerate\."):
        sigrok.said(tmp_path / "no-samplerate.sr", ":".join([decoder, *wired]), "-A", decoder)


@pytest.mark.parametrize("decoder", IDS)
def test_the_declarations_keep_to_hacking(decoder: str) -> None:
    declared = sigrok.loaded(decoder).Decoder
    assert (declared.api_version, declared.id, declared.license) == (3, decoder, "mit")
    assert len(declared.desc) <= 55 and declared.desc.endswith(".")
    assert declared.tags == sorted(declared.tags) and TAGS.issuperset(declared.tags)
    named = [*declared.annotations, *declared.annotation_rows]
    given = [*declared.channels, *declared.optional_channels]
    for ids in (
        [name for name, *_ in named],
        [channel["id"] for channel in given],
        [option["id"] for option in declared.options],
    ):
        assert len(set(ids)) == len(ids)
    shown = [number for *_, numbers in declared.annotation_rows for number in numbers]
    assert sorted(shown) == list(range(len(declared.annotations)))


@pytest.mark.parametrize("path", [f"{decoder}/{name}.py" for decoder in IDS for name in ("__init__", "pd")])
def test_the_files_have_the_form_of_libsigrokdecodes(path: str) -> None:
    text = (pulseview.FOLDER / path).read_text(encoding="utf-8")
    header, _, code = text.partition("##\n\n")
    assert "Copyright (C)" in header and "Permission is hereby granted, free of charge" in header
    tree = ast.parse(text, feature_version=OLDEST)
    docstring = ast.get_docstring(tree, clean=False) or ""
    assert not re.search('"|\n\n\n|\t', code.replace(docstring, ""))
    assert not any(isinstance(node, ast.JoinedStr) for node in ast.walk(tree))
    assert not re.search(r"\b(strict|removeprefix|removesuffix|pairwise)\b", code)


def test_the_commands_of_the_page_bring_the_decoders_where_sigrok_looks(tmp_path: Path) -> None:
    """In a user's folder, and in sigrok's repositories; a stand-in for `pdtest` looks where the
    real one does.
    """
    page = (pulseview.FOLDER / "README.md").read_text(encoding="utf-8")
    marked = r"<!-- elsewhere: \S+::test_the_commands_of_the_page\w+ -->\n\n((?:    .*\n|\n)+)"
    for folder in ("checkout", "libsigrokdecode/decoders", "sigrok-test/decoder/test", "sigrok-dumps"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "checkout" / "decoders").symlink_to(pulseview.FOLDER)
    runner = tmp_path / "sigrok-test" / "decoder" / "pdtest"
    look = 'for id; do grep -h "^.input" test/$id/test.conf; done'
    runner.write_text(f'#!/bin/sh\ncd "$(dirname "$0")"; shift 2; {look}\n')
    runner.chmod(0o755)
    script = "set -e\n" + "".join(re.findall(marked, page))
    environment = {name: value for name, value in os.environ.items() if name != "SIGROKDECODE_DIR"}
    environment |= {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / ".local" / "share")}

    def shell(commands: str) -> str:
        command = ["sh", "-c", commands]
        return subprocess.check_output(command, cwd=tmp_path / "checkout", env=environment, text=True)

    inputs = {line.split()[1] for line in shell(script).splitlines()}
    assert inputs == {case[2][1] for _, case, _ in OUTPUTS} | {"misc/no-samplerate.sr"}
    assert all((tmp_path / "sigrok-dumps" / name).exists() for name in inputs if "misc" not in name)
    for decoder in IDS:
        assert f"ID: {decoder}" in shell(f"sigrok-cli -P {decoder} --show")
        text = (tmp_path / "libsigrokdecode" / "decoders" / decoder / "pd.py").read_text()
        assert "## This file is part of the libsigrokdecode project." in text
