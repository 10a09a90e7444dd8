"""`./lab dev package`: a wheel that needs no checkout, a source archive, their digests, an SBOM.

The wheel has the rooms without their tests, the simulator, images and licences. The rooms lie in a
private folder of the package, which only the program's own process has on its path. Their sentences
name the program as the package installs it, `tailscope`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from analysis.fragmentation import of_run
from base import source_digest
from base.files.errors import TailscopeError
from base.files.whole import write_bytes
from base.paths import ROOT
from base.processes import children
from base.tell import Tell
from cli.shell import start
from cli.shell.project import project, revision
from cli.shell.shared import USUAL_TWO
from firmware.build import boards, catalogue, host_heap, packaged
from firmware.build import image as firmware
from scenarios.operations import EXTRAS
from simulator import build as simulator

PACKAGE = "tailscope"
"""The folder of what somebody's project imports."""
PRIVATE = "_program"
"""The folder of the rooms in the package."""
_ROOMS = (
    *("base", "scenarios", "firmware", "simulator", "capture", "analysis", "quality", "dashboards"),
    *("decoders", "studies", "cli", "docs"),
)
_FILES = ("README.md", "LICENSE", "CHANGELOG.md", "bench.toml", "pyocd_user.py", "requirements.lock")
_TESTS_OF_USERS = ROOT / "firmware" / "heap" / "tests"
"""What `contract` holds a user's own allocator to."""
_NOT_OF_SIMULATOR = {"crates", "target", "fuzz", "Cargo.toml", "Cargo.lock"}
ON_ALL_BOARDS = ("seglist", "tlsf", "heap_4")
"""The allocators that an installed package runs on every board without a compiler."""
_FREE = {"MIT", "BSD-3-Clause", "Apache-2.0", "CC0", "public domain"}
"""Licences whose works may go along as programs, if their text does."""
_KERNEL = ROOT / "firmware" / "kernel" / "package" / "Cargo.toml"
"""Names the crate that has the kernel of every image."""
_TYPED, _INSTALLED = b"./lab", b"tailscope"
_METADATA_WITHIN_S = 60.0
_LINUX = "x86_64-unknown-linux-gnu"
"""Crates for other systems are not fetched, nor linked on any Linux."""


class PackageError(TailscopeError):
    """The package cannot be made; the message says why."""


def table() -> str:
    """The tables [project…] of pyproject.toml as they stand, without the extra of the tests."""
    tables = re.split(r"(?m)^(?=\[)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = "".join(part for part in tables if part.startswith(("[project]", "[project.")))
    return re.sub(r"(?ms)^test = \[.*?^\]\n", "", text)


def _room(name: str, folder: Path) -> None:
    """Copies a room to `folder`. Where a line says `./lab`, the copy says `tailscope`."""
    shutil.copytree(ROOT / name, folder / name, ignore=_left_out, copy_function=_copied)


def _left_out(folder: str, names: list[str]) -> set[str]:
    here = Path(folder)
    hidden = {name for name in names if name.startswith(".") or name in ("__pycache__", "tests")}
    hidden |= _NOT_OF_SIMULATOR if here == ROOT / "simulator" else set()
    return hidden - {_TESTS_OF_USERS.name} if here == _TESTS_OF_USERS.parent else hidden


def images(
    folder: Path, names: Collection[str], tell: Callable[[str], None]
) -> tuple[list[firmware.FirmwareImage], dict[str, str]]:
    """Builds the images of the allocators and puts them below `folder`: with the accelerator and
    without, those that a command takes by itself also with each extra that scenarios call for, and
    those of ON_ALL_BOARDS for every board.

    Returns them, and by name why an allocator stays out. Raises BuildError.
    """
    room = folder / "firmware"
    made, out, built = [], {}, {}
    for name in names:
        row = catalogue.allocators()[name]
        if row.missing_checkout() is not None:
            out[name] = "it is compiled from a checkout of your own"
        elif not _FREE & {*row.licence.split(" OR ")}:
            out[name] = f"its licence is {row.licence}"
        else:
            for spec in _usual(name):
                tell(spec.name)
                made.append(firmware.package(room / packaged.IMAGES, spec))
                built[spec.name] = spec.folder
    packaged.pack(room / packaged.ELF_FILES, built, (packaged.ELF, packaged.FOOTPRINT))
    return made, out


def _usual(name: str) -> Iterator[firmware.BuildSpec]:
    of = firmware.BuildSpec.of
    yield of(name)
    yield of(name, art=False)
    if name in USUAL_TWO.split(","):
        yield from (of(name, extras=(extra,)) for extra in sorted(set(EXTRAS.values())))
    if name in ON_ALL_BOARDS:
        yield from (of(name, board=board) for board in boards.names() if board != boards.DEFAULT)


def host_programs(folder: Path, made: Iterable[firmware.FirmwareImage]) -> None:
    """The images' heaps as programs for a PC: the region where the image has it, and elsewhere."""
    built: dict[str, Path] = {}
    for image in made:
        size = image.configuration.heap_bytes
        if host_heap.objection(image.allocator, size) is None:
            for program in (
                of_run.program_of(image, static=True),
                host_heap.build(image.allocator, size, static=True),
            ):
                built[program.parent.name] = program.parent
    packaged.pack(folder / "firmware" / packaged.HOST_PROGRAMS, built, packaged.HOST_FILES)


def licences(folder: Path, allocators: Iterable[str]) -> None:
    """Copies the licence texts of the crates in the simulator and in the images, the kernel's among
    them, and those of the C library, to `folder`.

    Raises PackageError for a crate that is not where cargo keeps it.
    """
    crates = {f"{name}-{version}" for name, version, _ in crates_of_simulator()}
    origins = " ".join(catalogue.allocators()[name].origin for name in allocators)
    crates |= {f"{name}-{version}" for name, version in re.findall(r"\bcrate (\S+) ([^\s,;]+)", origins)}
    kernel = tomllib.loads(_KERNEL.read_text(encoding="utf-8"))["dependencies"]
    crates |= {f"{name}-{version.removeprefix('=')}" for name, version in kernel.items()}
    for crate in sorted(crates):
        for text in _texts(crate):
            _copied(text, folder / crate / text.name)
    for package in ("libnewlib-dev", "libgcc-s1", "libc6"):
        text = Path("/usr/share/doc") / package / "copyright"
        if text.is_file():
            _copied(text.resolve(), folder / package / "copyright")


def crates_of_simulator() -> list[tuple[str, str, str]]:
    """Name, version and licence of each crate that is linked into the virtual Nucleo, by name."""
    command = ["cargo", "tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none"]
    command += ["--target", _LINUX, "--format", "{p}\t{l}"]
    done = children.run(command, within_s=_METADATA_WITHIN_S, folder=ROOT / "simulator/crates/virtual-nucleo")
    if done.returncode:
        raise PackageError(f"cargo does not tell the simulator's crates: {children.last_words(done.stderr)}")
    # A crate of the workspace has its path behind the version, and one that was listed has a star.
    rows = (
        line.removesuffix(" (*)").partition("\t") for line in done.stdout.splitlines() if "(/" not in line
    )
    crates = {(*crate.split()[:2], licence) for crate, _, licence in rows}
    return sorted((name, version.removeprefix("v"), licence) for name, version, licence in crates)


def _texts(name: str) -> Iterator[Path]:
    """The licences of a crate, and those of the kernel that it has."""
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    crate = min(cargo.glob(f"registry/src/*/{name}"), default=None)
    if crate is None:
        raise PackageError(f"The crate {name} is not in {cargo}, so its licence cannot go along: build once.")
    for path in sorted([*crate.iterdir(), *crate.glob("FreeRTOS-Kernel/LICENSE*")]):
        if path.is_file() and path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE")):
            yield path


def _copied(source: str | Path, place: str | Path) -> None:
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).write_bytes(Path(source).read_bytes().replace(_TYPED, _INSTALLED))
    shutil.copymode(source, place)


_PLATFORMS = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
"""A program without shared libraries runs on all of them (PEP 600, PEP 656)."""
_BUILD_WITHIN_S = 3600.0
_COMPLETIONS = {
    "bash": "bash-completion/completions/tailscope",
    "zsh": "zsh/site-functions/_tailscope",
    "fish": "fish/vendor_completions.d/tailscope.fish",
}
"""Where a shell looks below `share` for what completes a program's words."""
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
share = "share"

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


def make(
    output: Path, architecture: str, allocators: Collection[str], tell: Tell
) -> tuple[list[Path], dict[str, str]]:
    """Writes a wheel for machines of that architecture, a source archive, an SBOM and their digests
    to the folder `output`.

    Returns the files, and by name of an allocator why it has no image. Raises PackageError,
    BuildError, WriteError.
    """
    if find_spec("hatchling") is None:
        raise PackageError("A package needs hatchling: ./lab dev package installs requirements-test.lock.")
    tell("the virtual Nucleo")
    binary = _simulator(architecture)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".package-", dir=output) as beside:
        stage = Path(beside)
        without = _stage(stage, binary, architecture, allocators, tell)
        tell("the wheel")
        files = [_built(stage, output), _source_archive(output)]
    files.append(_sbom(output, [name for name in allocators if name not in without]))
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    write_bytes(output / "SHA256SUMS", sums.encode())
    return [*files, output / "SHA256SUMS"], without


def _simulator(architecture: str) -> Path:
    """The program for that architecture, without shared libraries.

    Raises PackageError, BuildError.
    """
    if architecture != platform.machine():
        return simulator.build_for(f"{architecture}-unknown-linux-musl")
    from elftools.elf.elffile import ELFFile

    binary = simulator.build()
    with binary.open("rb") as file:
        wants_libraries = ELFFile(file).get_section_by_name(".interp") is not None
    if wants_libraries:
        raise PackageError(
            "The virtual Nucleo was linked to this machine's glibc, and would not run on others: install "
            "glibc as an archive (Debian: libc6-dev, Fedora: glibc-static)."
        )
    return binary


def _stage(
    stage: Path, binary: Path, architecture: str, allocators: Collection[str], tell: Tell
) -> dict[str, str]:
    _room(PACKAGE, stage)
    private = stage / PACKAGE / PRIVATE
    for room in _ROOMS:
        _room(room, private)
    for name in _FILES:
        _copied(ROOT / name, private / name)
    write_bytes(private / source_digest.NOTE, f"{source_digest.simulator()}\n".encode())
    write_bytes(private / "pyproject.toml", table().encode())
    # Where simulator/build.py finds it in an installed package.
    shutil.copyfile(binary, private / "simulator" / simulator.NAME)
    (private / "simulator" / simulator.NAME).chmod(0o755)
    made, without = images(private, allocators, tell)
    tell("heaps for a PC")
    host_programs(private, made)
    # Which version it is, and a digest of all files that are there by now.
    files = sorted(path for path in private.rglob("*") if path.is_file())
    words = f"{project()['version']} {source_digest.digest_of(files, private)[:12]} {revision()}".strip()
    write_bytes(private / "VERSION", f"{words}\n".encode())
    licences(stage / "licences", {image.allocator for image in made})
    for name in ("README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, stage / name)
    from cli.dev._pages import manual

    shared = {place: start.completion(shell, PACKAGE) for shell, place in _COMPLETIONS.items()}
    shared["man/man1/tailscope.1"] = manual(start.lab(), PACKAGE)
    for place, text in shared.items():
        write_bytes(stage / "share" / place, text.encode())
    write_bytes(stage / "pyproject.toml", _STAGED.format(project=table()).encode())
    write_bytes(stage / "tag.py", _TAG.format(platforms=_PLATFORMS.format(architecture)).encode())
    return without


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
    """The last commit of the checkout."""
    name = f"{project()['name']}-{project()['version']}"
    path = output / f"{name}.tar.gz"
    command = ["git", "archive", f"--prefix={name}/", f"--output={path.resolve()}", "HEAD"]
    if children.run(command, within_s=_METADATA_WITHIN_S, folder=ROOT).returncode:
        raise PackageError("A source archive is made of what git has, and this checkout is not git's.")
    return path


def _sbom(output: Path, allocators: Iterable[str]) -> Path:
    """What is inside, as CycloneDX 1.5 has it: crates, allocators, and the packages of the lock."""
    version = str(project()["version"])
    rows = catalogue.allocators()
    locked = re.findall(
        r"(?m)^([\w.-]+)==([\w.!+-]+)", (ROOT / "requirements.lock").read_text(encoding="utf-8")
    )
    components = [
        *(
            ("library", f"pkg:cargo/{name}@{of}", name, of, licence)
            for name, of, licence in crates_of_simulator()
        ),
        *(("firmware", "", name, version, rows[name].licence) for name in allocators),
        *(("library", f"pkg:pypi/{name}@{of}", name, of, "") for name, of in locked),
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": PACKAGE, "version": version}},
        "components": [
            {"type": kind, "name": name, "version": of}
            | ({"purl": address} if address else {})
            | ({"licenses": [{"license": {"name": licence}}]} if licence else {})
            for kind, address, name, of, licence in components
        ],
    }
    path = output / f"{PACKAGE}-{version}.cdx.json"
    write_bytes(path, (json.dumps(document, indent=1) + "\n").encode())
    return path
