"""When a build configures, and when it only compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.paths import ROOT
from firmware.build import image as image
from firmware.build.cmake_build import Build, BuildError


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of CMake, in order. A definition `broken` names the step that fails."""
    requests: list[str] = []

    def run(build: Build, step: str, _command: list[str]) -> None:
        requests.append(step)
        if build.definitions.get("broken") == step:
            raise BuildError(step)
        if step == "configure":
            build.folder.mkdir(exist_ok=True)
            (build.folder / "build.ninja").touch()
            places = {"CMAKE_CACHEFILE_DIR": build.folder, "CMAKE_HOME_DIRECTORY": build.source}
            lines = "".join(f"{name}:INTERNAL={place}\n" for name, place in places.items())
            (build.folder / "CMakeCache.txt").write_text(lines, encoding="utf-8")

    monkeypatch.setattr(Build, "run_step", run)
    return requests


def build(folder: Path, **definitions: str) -> Build:
    return Build("A build", folder, folder / "build", definitions)


def test_what_is_configured_so_already_is_only_compiled(tmp_path: Path, steps: list[str]) -> None:
    for art in ("on", "on", "off", "on"):
        build(tmp_path, art=art).make()
    assert steps == ["configure", "compile", "compile", *["configure", "compile"] * 2]


def test_what_could_not_be_configured_is_not_taken_for_what_was_before(
    tmp_path: Path, steps: list[str]
) -> None:
    """CMake remembers the definitions of the attempt that failed."""
    build(tmp_path).make()
    with pytest.raises(BuildError, match="configure"):
        build(tmp_path, broken="configure").make()
    steps.clear()
    build(tmp_path).make()
    assert steps == ["configure", "compile"]


def test_what_does_not_compile_any_more_is_configured_again(tmp_path: Path, steps: list[str]) -> None:
    build(tmp_path, broken="compile").configure()
    steps.clear()
    with pytest.raises(BuildError, match="compile"):
        build(tmp_path, broken="compile").make()
    assert steps == ["compile", "configure", "compile"]


def test_another_cargo_home_is_configured(
    tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path).make()
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    build(tmp_path).make()
    assert steps == ["configure", "compile"] * 2


def test_a_package_that_was_missing_is_found_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As gcc-multilib, which may be installed after a build of the heap failed for want of it."""
    arrived = tmp_path / "arrived"
    compiler = tmp_path / "cc"
    compiler.write_text(
        "#!/bin/sh\n"
        f'[ -e {arrived} ] || case " $* " in *" -m32 "*) echo no headers for 32 bits >&2; exit 1 ;; esac\n'
        'exec gcc "$@"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    source = ROOT / "firmware" / "heap" / "host"
    heap = Build("A heap", source, tmp_path / "build", {"TAILSCOPE_ALLOCATOR": "first_fit"})
    for _ in range(2):
        with pytest.raises(BuildError, match="gcc-multilib"):
            heap.make()
    arrived.touch()
    heap.configure()


def test_two_sources_can_share_a_folder(tmp_path: Path) -> None:
    """As two installed packages share the user's cache: CMake refuses another source's folder."""
    for name in ("one", "other", "one"):
        source = tmp_path / name
        source.mkdir(exist_ok=True)
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\n"
            f'file(WRITE "${{CMAKE_BINARY_DIR}}/by" {name})\n'
        )
        Build("A build", source, tmp_path / "build", {}).make()
        assert (tmp_path / "build" / "by").read_text() == name
