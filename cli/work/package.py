"""`./lab dev package`: a wheel that needs no checkout, a source archive, their digests, an SBOM."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from base.files.whole import write_bytes
from base.paths import ROOT
from base.processes import children
from base.tell import Tell
from cli.shell.project import project
from cli.work import package_content as content
from cli.work.package_content import PackageError
from firmware.build import catalogue, packaged
from simulator import build as simulator

TARGETS = {"x86_64": "x86_64-unknown-linux-musl", "aarch64": "aarch64-unknown-linux-musl"}
"""By architecture, as wheels call it, rustc's target where another machine's is asked for."""
_PLATFORMS = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
"""A program without shared libraries runs on all of them (PEP 600, PEP 656)."""
_BUILD_WITHIN_S = 3600.0
_SUMS = "SHA256SUMS"
_STAGED = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

{project}
[tool.hatch.build]
artifacts = ["tailscope/**"]

[tool.hatch.build.targets.wheel]
packages = ["tailscope"]

[tool.hatch.build.targets.wheel.shared-data]
"share" = "share"

[tool.hatch.build.targets.wheel.hooks.custom]
path = "tag.py"
"""
_TAG = """\
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-{platforms}"
"""


@dataclass(frozen=True)
class Made:
    """What was written, and by name of an allocator why it has no image."""

    files: tuple[Path, ...]
    without: dict[str, str]


def make(output: Path, architecture: str | None, allocators: Collection[str], tell: Tell) -> Made:
    """Writes wheel, source archive, SBOM and digests to the folder `output`.

    `architecture` is None for this machine's. Raises PackageError, BuildError, WriteError.
    """
    if find_spec("hatchling") is None:
        raise PackageError("A package needs hatchling: ./lab dev package installs requirements-test.lock.")
    wanted = architecture or platform.machine()
    if wanted not in TARGETS:
        raise PackageError(f"There is no wheel for {wanted!r}: choose {' or '.join(TARGETS)}.")
    tell("the virtual Nucleo")
    binary = _simulator(wanted)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".package-", dir=output) as beside:
        stage = Path(beside)
        without = _stage(stage, binary, wanted, allocators, tell)
        tell("the wheel")
        files = [_built(stage, output), _source_archive(output)]
        files.append(_sbom(output, allocators, without))
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    write_bytes(output / _SUMS, sums.encode())
    return Made((*files, output / _SUMS), without)


def _simulator(architecture: str) -> Path:
    """The program for that architecture, without shared libraries. Raises PackageError."""
    if architecture == platform.machine():
        binary = simulator.build()
        if _wants_libraries(binary):
            raise PackageError(
                "The virtual Nucleo was linked to this machine's glibc, and would not run on others: install "
                "glibc as an archive (Debian: libc6-dev, Fedora: glibc-static)."
            )
        return binary
    target = TARGETS[architecture]
    done = children.run(simulator.command(target=target), within_s=_BUILD_WITHIN_S, folder=simulator.FOLDER)
    if done.returncode:
        said = children.last_words(done.stderr)
        raise PackageError(
            f"The virtual Nucleo does not build for {architecture} ({said}): "
            f"is rustc's target {target} installed?"
        )
    return simulator.binary(target)


def _wants_libraries(binary: Path) -> bool:
    from elftools.elf.elffile import ELFFile

    with binary.open("rb") as file:
        return ELFFile(file).get_section_by_name(".interp") is not None


def _stage(
    stage: Path, binary: Path, architecture: str, allocators: Collection[str], tell: Tell
) -> dict[str, str]:
    content.package(stage)
    rooms = stage / content.PACKAGE / content.PRIVATE
    content.rooms(rooms)
    content.program(rooms, binary)
    made, without = content.images(rooms, allocators, tell)
    tell("heaps for a PC")
    content.host_programs(rooms, made)
    content.version(rooms)
    content.licences(stage / "licences", {image.allocator for image in made})
    for name in ("README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, stage / name)
    _shared(stage / "share")
    (stage / "pyproject.toml").write_text(_STAGED.format(project=content.table()), encoding="utf-8")
    (stage / "tag.py").write_text(_TAG.format(platforms=_PLATFORMS.format(architecture)), encoding="utf-8")
    return without


def _shared(folder: Path) -> None:
    """The manual page, and what completes words, where shells look for them."""
    from cli.dev._pages import manual
    from cli.shell import start

    places = {
        "bash": "bash-completion/completions/tailscope",
        "zsh": "zsh/site-functions/_tailscope",
        "fish": "fish/vendor_completions.d/tailscope.fish",
    }
    for shell, place in places.items():
        _put(folder / place, start.completion(shell, "tailscope"))
    _put(folder / "man/man1/tailscope.1", manual(start.lab(), "tailscope"))


def _put(file: Path, words: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(file, words.encode())


def _built(stage: Path, output: Path) -> Path:
    """Has hatchling make the wheel of what is staged; equal files give equal bytes."""
    made = stage / "dist"
    command = ["env", "SOURCE_DATE_EPOCH=315532800", sys.executable, "-m", "hatchling", "build"]
    done = children.run([*command, "-t", "wheel", "-d", str(made)], within_s=_BUILD_WITHIN_S, folder=stage)
    if done.returncode:
        raise PackageError(f"hatchling did not make the wheel: {children.last_words(done.stderr)}")
    wheel = next(made.glob("*.whl"))
    for old in output.glob(f"{wheel.name.partition('-')[0]}-*-{wheel.stem.rpartition('_')[2]}.whl"):
        old.unlink()
    return Path(shutil.move(wheel, output / wheel.name))


def _source_archive(output: Path) -> Path:
    """What git has of the checkout, as it stands, with PKG-INFO."""
    table = project()
    name = f"{table['name']}-{table['version']}"
    listed = children.run(["git", "ls-files", "-z"], within_s=60, folder=ROOT)
    if listed.returncode:
        raise PackageError("A source archive is made of what git has, and this checkout is not git's.")
    path = output / f"{name}.tar.gz"
    info = f"Metadata-Version: 2.1\nName: {table['name']}\nVersion: {table['version']}\n"
    with (
        tempfile.TemporaryDirectory(dir=output) as beside,
        tarfile.open(path, "w:gz", compresslevel=9) as file,
    ):
        note = Path(beside) / "PKG-INFO"
        note.write_text(info, encoding="utf-8")
        file.add(note, f"{name}/PKG-INFO", filter=packaged.without_owner)
        for one in sorted(filter(None, listed.stdout.split("\0"))):
            if (ROOT / one).is_file():
                file.add(ROOT / one, f"{name}/{one}", filter=packaged.without_owner)
    return path


def _sbom(output: Path, allocators: Collection[str], without: Collection[str]) -> Path:
    """What is inside, as CycloneDX 1.5 has it: crates, allocators, and the packages of the lock."""
    version = str(project()["version"])
    crates = [
        {
            "type": "library",
            "name": crate["name"],
            "version": crate["version"],
            "purl": f"pkg:cargo/{crate['name']}@{crate['version']}",
            "licenses": [{"expression": crate["licence"].replace("/", " OR ")}],
        }
        for crate in content.crates_of_simulator()
    ]
    rows = catalogue.allocators()
    heaps = [
        {
            "type": "firmware",
            "name": f"tailscope-firmware-{name}",
            "version": version,
            "description": rows[name].origin,
            "licenses": [{"license": {"name": rows[name].licence}}],
        }
        for name in allocators
        if name not in without
    ]
    locked = re.findall(
        r"(?m)^([\w.-]+)==([\w.!+-]+)", (ROOT / "requirements.lock").read_text(encoding="utf-8")
    )
    packages = [
        {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
            "scope": "optional",
        }
        for name, version in locked
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "tailscope", "version": version}},
        "components": [*crates, *heaps, *packages],
    }
    path = output / f"tailscope-{version}.cdx.json"
    write_bytes(path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def size_mb(file: Path) -> float:
    """In millions of bytes."""
    return file.stat().st_size / 1e6
