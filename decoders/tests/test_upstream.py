"""What libsigrokdecode's maintainers ask of a decoder, and its tests as sigrok-test runs them.

The rules are those of libsigrokdecode's HACKING, the form of the tests is that of sigrok-test's
README.
The files that a test is held to were written by sigrok-test's own `pdtest -f`.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from base.run_folder.session_file import read_sr
from capture.acquisition.sigrok_cli import find_tool
from decoders import pulseview
from decoders.tests.dumps import DRAWN, FOLDER, TESTS
from decoders.tests.upstream_tests import Case, cases, session

IDS = ("critical_section", "irq_latency")
ALL = list(cases())
MATCHED = [(case, output) for case in ALL for output in case.outputs if output.kind != "exception"]
OLDEST = (3, 8)
TAGS = {"Analog/digital", "Clock/timing", "Debug/trace", "Embedded/industrial", "Encoding", "Util"}
DESC_MOST = 55
LINE_MOST = 110


def source(decoder: str, name: str = "pd.py") -> str:
    return (pulseview.FOLDER / decoder / name).read_text(encoding="utf-8")


def declared(decoder: str) -> dict[str, Any]:
    """What the class Decoder and its module declare as literals, constants put in."""
    tree = ast.parse(source(decoder), feature_version=OLDEST)
    (body,) = [
        class_def.body
        for class_def in tree.body
        if isinstance(class_def, ast.ClassDef) and class_def.name == "Decoder"
    ]
    scope: dict[str, Any] = {}
    for node in [*tree.body, *body]:
        if isinstance(node, ast.Assign):
            code = compile(ast.Module([node], []), decoder, "exec")
            try:
                exec(code, {"__builtins__": {"range": range, "len": len}}, scope)
            except NameError:  # of struct, which is imported
                continue
    return scope


def unique(ids: list[str]) -> bool:
    return len(set(ids)) == len(ids)


@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_case_names_files_that_are_there(case: Case) -> None:
    assert case.outputs and all(path.exists() for path in case.expected.values())
    if not case.input.startswith("misc/"):
        assert session(case).exists()


@pytest.mark.parametrize(("case", "output"), MATCHED, ids=lambda value: getattr(value, "match", str(value)))
def test_sigrok_says_what_the_maintainers_runner_wrote(case: Case, output: Any) -> None:
    expected = case.expected[output.match].read_text(encoding="utf-8")
    if output.kind == "binary":
        expected = " ".join(line.split(": ")[1] for line in expected.splitlines())
    assert case.said(output, session(case)) == expected != ""


@pytest.mark.parametrize("decoder", IDS)
def test_a_capture_without_a_samplerate_is_refused_by_its_own_error(decoder: str, tmp_path: Path) -> None:
    """sigrok-dumps has misc/no-samplerate.sr, for which this one stands in."""
    (case,) = [case for case in ALL if case.decoder == decoder and case.input.startswith("misc/")]
    assert [output.match for output in case.outputs] == ["SamplerateError"]
    device = "capturefile=logic-1\ntotal probes=2\ntotal analog=0\nprobe1=0\nprobe2=1\nunitsize=1"
    with zipfile.ZipFile(tmp_path / "no-samplerate.sr", "w") as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", f"[global]\nsigrok version=0.5.2\n\n[device 1]\n{device}\n")
        archive.writestr("logic-1-1", bytes([0, 1, 2, 3] * 9))
    names = declared(decoder)["channels"]
    case.channels.clear()
    case.options.clear()
    wired = {channel["id"]: str(number) for number, channel in enumerate(names)}
    case.options.update(wired)  # the same syntax, and the session's names are numbers
    assert "SamplerateError: Cannot decode without samplerate." in case.refused(tmp_path / "no-samplerate.sr")


@pytest.mark.parametrize("name", DRAWN)
def test_a_dump_is_the_waveform_that_is_drawn(name: str) -> None:
    assert read_sr(FOLDER / f"{name}.sr") == DRAWN[name]()


def test_every_file_of_the_tests_belongs_to_a_case() -> None:
    for decoder in IDS:
        files = {path.name for path in (TESTS / decoder).iterdir()} - {"test.conf"}
        assert files == {name for case in ALL if case.decoder == decoder for name in case.expected}
    assert {path.stem for path in FOLDER.glob("*.sr")} == {*DRAWN, "bare_program"}


@pytest.mark.parametrize("decoder", IDS)
def test_every_annotation_class_is_tested(decoder: str) -> None:
    said = "".join(
        path.read_text(encoding="utf-8")
        for case in ALL
        if case.decoder == decoder
        for path in case.expected.values()
    )
    for name, _ in declared(decoder)["annotations"]:
        assert f" {decoder}: {name}: " in said, name


@pytest.mark.parametrize("decoder", IDS)
def test_the_declarations_keep_to_hacking(decoder: str) -> None:
    declaration = declared(decoder)
    assert (declaration["api_version"], declaration["id"], declaration["license"]) == (3, decoder, "mit")
    assert declaration["inputs"] == ["logic"] and declaration["outputs"] == []
    assert len(declaration["desc"]) <= DESC_MOST and declaration["desc"].endswith(".")
    assert (
        declaration["tags"] == sorted(declaration["tags"])
        and set(declaration["tags"]) <= TAGS
        and declaration["tags"]
    )
    classes = [name for name, _ in declaration["annotations"]]
    rows = [name for name, *_ in declaration["annotation_rows"]]
    channels = [channel["id"] for channel in (*declaration["channels"], *declaration["optional_channels"])]
    options = [channel["id"] for channel in declaration["options"]]
    binary = [name for name, _ in declaration["binary"]]
    for ids in ([*classes, *rows], channels, options, binary, declaration["tags"]):
        assert unique(ids), ids
    assert all(row.endswith("s") or row == "maxima" for row in rows)
    shown = [number for *_, numbers in declaration["annotation_rows"] for number in numbers]
    assert sorted(shown) == list(range(len(classes)))
    assert all({"id", "desc", "default"} <= {*option} for option in declaration["options"])
    assert all({*option} <= {"id", "desc", "default", "values"} for option in declaration["options"])


@pytest.mark.parametrize("decoder", IDS)
@pytest.mark.parametrize("name", ["__init__.py", "pd.py"])
def test_the_files_have_the_form_of_libsigrokdecodes(decoder: str, name: str) -> None:
    text = source(decoder, name)
    header, _, code = text.partition("##\n\n")
    assert all(line.startswith("##") for line in header.splitlines())
    assert "Copyright (C)" in header and "Permission is hereby granted, free of charge" in header
    docstring = ast.get_docstring(ast.parse(text), clean=False) or ""
    assert '"' not in code.replace(docstring, "") and "\n\n\n" not in code and "\t" not in code
    assert text.endswith("\n") and max(map(len, text.splitlines())) <= LINE_MOST
    tree = ast.parse(text, feature_version=OLDEST)
    assert not any(isinstance(node, ast.JoinedStr) for node in ast.walk(tree))
    newer = {"strict", "removeprefix", "removesuffix", "pairwise"}
    used = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    assert not newer & (used | set(re.findall(r"\w+", code)))
    if name == "__init__.py":
        assert ast.get_docstring(tree) and code.rstrip().endswith("from .pd import Decoder")


README = (pulseview.FOLDER / "README.md").read_text(encoding="utf-8")


def words(test: str) -> str:
    """The commands of the page that a test is named for."""
    blocks = re.findall(rf"<!-- elsewhere: \S+::{test} -->\n\n((?:    .*\n|\n)+)", README)
    assert blocks
    return "".join(blocks)


def done(commands: str, checkout: Path, **variables: str) -> str:
    """What a shell says of them, in a folder that has decoders/ beside it."""
    (checkout / "decoders").symlink_to(pulseview.FOLDER)
    script = f"set -e\n{commands}"
    environment = {**os.environ, **variables}
    process = subprocess.run(
        ["sh", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_decoders_work_from_a_users_folder(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    done(words("test_the_decoders_work_from_a_users_folder"), tmp_path / "checkout", HOME=str(tmp_path))
    environment = {name: value for name, value in os.environ.items() if name != "SIGROKDECODE_DIR"}
    environment |= {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / ".local" / "share")}
    for decoder in IDS:
        command = [find_tool(), "-P", decoder, "--show"]
        shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert f"ID: {decoder}" in shown and "License: mit" in shown


def test_the_trees_fit_into_those_of_sigrok(tmp_path: Path) -> None:
    """A stand-in for `pdtest` looks where the real one does."""
    for folder in ("checkout", "libsigrokdecode/decoders", "sigrok-test/decoder/test", "sigrok-dumps"):
        (tmp_path / folder).mkdir(parents=True)
    runner = tmp_path / "sigrok-test" / "decoder" / "pdtest"
    look = 'for id; do grep -h "^.input" test/$id/test.conf; done'
    runner.write_text(f'#!/bin/sh\ncd "$(dirname "$0")"; shift 2; {look}\n')
    runner.chmod(0o755)
    said = done(words("test_the_trees_fit_into_those_of_sigrok"), tmp_path / "checkout")
    inputs = {line.split()[1] for line in said.splitlines()}
    assert inputs == {case.input for case in ALL}
    dumps = {name for name in inputs if not name.startswith("misc/")}
    assert all((tmp_path / "sigrok-dumps" / name).exists() for name in dumps)
    for decoder in IDS:
        for name in ("__init__.py", "pd.py"):
            text = (tmp_path / "libsigrokdecode" / "decoders" / decoder / name).read_text()
            assert "## This file is part of the libsigrokdecode project." in text
