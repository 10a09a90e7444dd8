"""When a build configures, and when it only compiles."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from firmware.build import cmake_build
from firmware.build import image as image
from firmware.build.cmake_build import Build, BuildError, run_step
from tests.tables import table


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of CMake, in order, "anew" where it is to forget what it found before.

    The title of a build ends in the step that fails.
    """
    requests: list[str] = []

    def run(title: str, step: str, command: list[str]) -> None:
        requests.append(f"{step} anew" if "--fresh" in command else step)
        if title.endswith(step):
            raise BuildError(step)
        if step == "configure":
            Path(command[command.index("-B") + 1]).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(cmake_build, "run_step", run)
    return requests


def build(folder: Path, broken: str = "no step", **definitions: str) -> Build:
    named = {"broken": broken, **definitions}
    return Build(f"A build that fails to {broken}", folder, folder / "build", named)


def test_what_is_configured_so_already_is_only_compiled(tmp_path: Path, steps: list[str]) -> None:
    for art in ("on", "on", "off", "on"):
        build(tmp_path, art=art).make()
    assert steps == ["configure anew", "compile", "compile", *["configure", "compile"] * 2]


def test_what_was_moved_or_failed_begins_anew(tmp_path: Path, steps: list[str]) -> None:
    build(tmp_path / "here").make()
    (tmp_path / "here").rename(tmp_path / "there")
    build(tmp_path / "there").make()
    with pytest.raises(BuildError, match="configure"):
        build(tmp_path / "there", broken="configure").make()
    build(tmp_path / "there").make()
    assert steps == [*["configure anew", "compile"] * 2, "configure", "configure anew", "compile"]


def test_what_does_not_compile_any_more_is_configured_again(tmp_path: Path, steps: list[str]) -> None:
    build(tmp_path, broken="compile").configure()
    steps.clear()
    with pytest.raises(BuildError, match="compile"):
        build(tmp_path, broken="compile").make()
    assert steps == ["compile", "configure", "compile"]


@pytest.mark.parametrize("later", [0, 5, 40])
def test_what_failed_is_said_whatever_was_built_beside_it(later: int) -> None:
    lines = ["[1/50] one", "FAILED: b.o", "cc -c b.c", "b.c:1: error: HDR is 4", *["[2/50] c"] * later]
    script = "".join(f"echo '{line}'\n" for line in lines)
    with pytest.raises(BuildError) as refused:
        run_step("The heap", "compile", ["sh", "-c", f"{script}exit 1"])
    assert "b.c:1: error: HDR is 4" in str(refused.value)
    assert len(str(refused.value).splitlines()) <= 21


@table
def test_all_that_is_missing_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allocator: str, on_path: list[str], packages: str
) -> None:
    for name in on_path:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(cmake_build, "is_installed", shutil.which)  # which takes no file for there
    with pytest.raises(BuildError) as refused:
        image.build(allocator, heap_bytes=32_768)
    assert str(refused.value).endswith(f"install the Debian {packages}")
