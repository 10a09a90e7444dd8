"""The wheel: what is in it, and what its program does where there is nothing but Python."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from base.paths import ROOT
from cli.dev import _package as package
from firmware.build import image as firmware
from simulator import build as simulator
from tests import lab
from tests.tables import table

ALLOCATOR = "tlsf"
SCENARIO = ("scenario", "mem_frag", "--allocator", ALLOCATOR)
SMALL = ("--parameter", "depth=8", "--parameter", "trials=1")
SAME = (
    "edges.parquet",
    "interrupts.parquet",
    "operations.parquet",
    "operations.bin",
    "uart.log",
    "counts.csv",
)


def quiet(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return package.make(tmp_path_factory.mktemp("dist"), platform.machine(), [ALLOCATOR], quiet)[0]


@pytest.fixture(scope="module")
def wheel(made: list[Path]) -> Path:
    return next(file for file in made if file.suffix == ".whl")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip installed the wheel to; what it depends on is in this environment."""
    folder = tmp_path_factory.mktemp("installed")
    command = [
        sys.executable,
        *("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target"),
        folder,
        wheel,
    ]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def tailscope(
    installed: Path, home: Path, folder: Path, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """The installed program in `folder`, with no tool on its path."""
    environment = {"PYTHONPATH": str(installed), "HOME": str(home), "PATH": "/nowhere", **more}
    return subprocess.run(
        [sys.executable, "-m", "tailscope", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_the_same_checkout_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    files = package.make(tmp_path, platform.machine(), [ALLOCATOR], quiet)[0]
    again = next(file for file in files if file.suffix == ".whl")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_it_is_small_and_has_the_package_its_images_and_licences(wheel: Path) -> None:
    assert wheel.name.endswith(f"_{os.uname().machine}.whl")
    assert "manylinux_2_17" in wheel.name
    recipe = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert recipe.count(f"tools/{wheel.name.replace(os.uname().machine, 'x86_64')}\n") == 2
    assert wheel.stat().st_size < 25e6
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    tops = {name.partition("/")[0] for name in content}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"tailscope"}
    names = [name for name in content if name.startswith("tailscope/")]
    assert {"tailscope/_run.py", "tailscope/py.typed", "tailscope/_program/cli/masks.py"} <= {*names}
    # It speaks of the program that it installs, and brings no tests but the allocators' contract.
    assert not [name for name in names if b"./lab" in content[name]]
    contract = "tailscope/_program/firmware/heap/tests/"
    assert not [name for name in names if "/tests/" in name and not name.startswith(contract)]
    built = firmware.build(ALLOCATOR)
    packed = io.BytesIO(content["tailscope/_program/firmware/elf_files.tar.xz"])
    with tarfile.open(fileobj=packed) as archive:
        file = archive.extractfile(f"{ALLOCATOR}/tailscope.elf")
        elf = file.read() if file else b""
    assert elf == built.elf.read_bytes()
    assert hashlib.sha256(elf).hexdigest() == built.sha256
    licences = {name: text for name, text in content.items() if ".dist-info/licenses/" in name}
    kernel = next(text for name, text in licences.items() if "/freertos-next-" in name)
    assert b"Permission is hereby granted" in kernel
    assert any("/clap-" in name for name in licences)
    shared = {name.partition(".data/data/share/")[2]: text for name, text in content.items()}
    assert all(b"tailscope" in shared[place] for place in package._COMPLETIONS.values())
    page = shared["man/man1/tailscope.1"].decode()
    assert ".SS \\&tailscope scenario [OPTIONS]" in page
    assert "./lab" not in page and str(ROOT) not in page


def test_the_digests_are_those_of_the_files(made: list[Path]) -> None:
    sums = made[-1]
    assert sums.name == "SHA256SUMS"
    subprocess.run(["sha256sum", "--check", "--strict", sums], cwd=sums.parent, check=True)
    assert {line.split()[1] for line in sums.read_text().splitlines()} == {file.name for file in made[:-1]}
    assert {file.suffix for file in made} == {".whl", ".gz", ".json", ""}


def test_the_sbom_names_all_crates_of_the_lock_and_the_packages(made: list[Path]) -> None:
    document = json.loads(next(file for file in made if file.suffix == ".json").read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    components = {part.get("purl", part["name"]): part for part in document["components"]}
    assert len(components) == len(document["components"])
    assert components[ALLOCATOR]["type"] == "firmware"
    locked = re.findall(
        r'name = "(.+)"\nversion = "(.+)"\nsource', (ROOT / "simulator" / "Cargo.lock").read_text()
    )
    crates = {tuple(name[10:].split("@")) for name in components if name.startswith("pkg:cargo/")}
    assert crates <= {*locked}
    assert {"clap", "serde", "thiserror"} <= {name for name, _ in crates}
    numpy = re.search(r"(?m)^numpy==(\S+)", (ROOT / "requirements.lock").read_text())
    assert numpy is not None and f"pkg:pypi/numpy@{numpy[1]}" in components
    assert all(components[name]["licenses"] for name in components if not name.startswith("pkg:pypi/"))


def test_the_program_for_another_architecture_is_one_of_it_or_names_the_target() -> None:
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    target = f"{other}-unknown-linux-musl"
    try:
        program = package._simulator(other)
    except simulator.BuildError as error:
        assert str(error).endswith(f"Is rustc's target {target} installed?")
    else:
        header = program.read_bytes()[:20]
        assert int.from_bytes(header[18:], "little") == {"x86_64": 0x3E, "aarch64": 0xB7}[other]


def test_a_run_needs_no_tool_and_is_that_of_the_checkout(installed: Path, home: Path, tmp_path: Path) -> None:
    before = {path for path in installed.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
    done = tailscope(installed, home, tmp_path, *SCENARIO, *SMALL)
    assert done.returncode == 0, done.stderr
    assert "sigrok-cli is not installed" in done.stderr
    theirs = next((tmp_path / "runs").glob("*-mem_frag-*"))
    document = json.loads((theirs / "run.json").read_text())
    assert document["verdict"] == "complete"

    checkout = lab.run(*SCENARIO, *SMALL, "--capture", "direct", "--runs", tmp_path / "own")
    assert checkout.returncode == 0, checkout.stderr
    own = Path(checkout.stdout.strip().splitlines()[-1])
    for name in SAME:
        assert (theirs / name).read_bytes() == (own / name).read_bytes(), name
    assert document["memory"] == json.loads((own / "run.json").read_text())["memory"]
    (tmp_path / "base.py").write_text("raise SystemExit('the module of a project')")
    script = (
        "import sys, tailscope; run = tailscope.Run(sys.argv[1]); print(run.verdict, run.operations.height)"
    )
    read = subprocess.run(
        [sys.executable, "-c", script, theirs],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert read.stdout.split() == ["complete", str(document["counts"]["operations"])]
    after = {path for path in installed.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}
    assert after == before


def test_another_board_needs_no_tool(installed: Path, home: Path, tmp_path: Path) -> None:
    board = "nucleo-f072rb"
    done = tailscope(installed, home, tmp_path, *SCENARIO, *SMALL, "--board", f"virtual:{board}")
    assert done.returncode == 0, done.stderr
    document = json.loads(next((tmp_path / "runs").glob("*-mem_frag-*/run.json")).read_text())
    assert document["verdict"] == "complete"
    assert document["firmware"]["elf_sha256"] == firmware.build(ALLOCATOR, board=board).sha256


@table
def test_what_needs_a_tool_says_which(
    installed: Path, home: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    done = tailscope(installed, home, tmp_path, *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) > 20
    assert "Traceback" not in done.stderr


def test_runs_without_a_board_need_no_package_of_boards() -> None:
    without = "import sys; sys.modules['pyocd'] = None; import cli.choose, cli.shell.runs"
    subprocess.run([sys.executable, "-c", without], cwd=ROOT, check=True)
