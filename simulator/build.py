"""The programs that are the virtual Nucleo: built with cargo, or as the installed package has them.

`NAME` runs and serves a board. `DESK` shows one with emulated USB devices, to test the bench; an
installed package does not have it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from base import source_digest
from base.files.errors import TailscopeError
from base.files.locks import taking_turns
from base.files.whole import WriteError, write_whole
from base.paths import CACHE, INSTALLED
from base.processes import children
from base.tell import Tell

FOLDER = Path(__file__).resolve().parent
NAME = "virtual-nucleo"
DESK = "virtual-desk"

# The lowest version that Cargo.toml's rust-version and the locked dependencies accept.
MINIMUM_CARGO = (1, 85)
REMEDY = "install a newer one, on Debian apt-get install cargo-web rustc-web"
TAIL_LINES = 20
STATIC = ("-C", "target-feature=+crt-static", "-C", "relocation-model=static")
"""The program then runs on every Linux of its architecture, at a fixed address.

For a fixed address the compiler writes shorter jumps through tables and shorter calls. The
interpreter makes one or two such jumps for each instruction of the board.
"""
OTHERS = ("-C", "linker=rust-lld")
"""For another machine, for which this one has no linker but Rust's own."""
# From nothing it takes a minute or two.
BUILD_WITHIN_S = 3600.0
VERSION_WITHIN_S = 10.0


class SimulatorError(TailscopeError):
    """The virtual Nucleo cannot do what it was asked. The message says why and what to do."""


class BuildError(SimulatorError):
    """The virtual Nucleo cannot be built."""


_BUILT: dict[str, Path] = {}
"""What this process has built or found, by name: asking takes a while."""


def build(tell: Tell = lambda _: None, name: str = NAME) -> Path:
    """Builds the program if it is out of date, and returns its path; `tell` hears of it where it is
    built. Raises BuildError.

    What was built of the same sources in any checkout of the user is taken from there. If several
    processes build at once, cargo lets one build and the others wait. An installed package has
    `NAME` built, for its own architecture.
    """
    if name not in _BUILT:
        if INSTALLED and name == DESK:
            raise BuildError(
                "The installed program has no emulated desk: use a checkout, or another board than this."
            )
        _BUILT[name] = FOLDER / name if INSTALLED else _found_or_built(tell, name)
    return _BUILT[name]


def _found_or_built(tell: Tell, name: str) -> Path:
    digest = _digest(_cargo_version(), name)
    binary = FOLDER / "target/release" / name
    kept = CACHE / "built" / f"{name}-{digest}"
    with taking_turns(binary):
        if _note(binary, digest).exists():
            return binary
        if kept.exists():
            write_whole(binary, partial(_copy, kept))
        else:
            tell("building the virtual Nucleo")
            _build(name)
            with suppress(WriteError):
                write_whole(kept, partial(_copy, binary))
        for note in binary.parent.glob(f"{name}-*.built"):
            note.unlink()
        _note(binary, digest).touch()
    return binary


def _copy(program: Path, path: Path) -> None:
    shutil.copy(program, path)


def build_for(target: str) -> Path:
    """Builds the virtual Nucleo for other machines, and returns its path. Raises BuildError.

    `target` is rustc's word for them. What is built needs no library of theirs.
    """
    try:
        _build(NAME, target)
    except BuildError as error:
        raise BuildError(f"{error}\nIs rustc's target {target} installed?") from None
    return FOLDER / "target" / target / "release" / NAME


def _build(name: str, target: str = "") -> None:
    try:
        done = children.run(command(name, target), within_s=BUILD_WITHIN_S, folder=FOLDER)
    except subprocess.TimeoutExpired:
        raise BuildError(
            f"The virtual Nucleo was not built within {BUILD_WITHIN_S:g} s; does another cargo hold its lock?"
        ) from None
    if done.returncode:
        tail = "\n".join(done.stderr.splitlines()[-TAIL_LINES:])
        raise BuildError(f"The virtual Nucleo does not build; cargo says:\n{tail}")


def _digest(cargo: str, name: str) -> str:
    """Of what is compiled, without Python and pages, and of the cargo that builds it."""
    words = (source_digest.digest(FOLDER.name, leave_out=(".py", ".md")), *command(name), cargo)
    return hashlib.sha256("\0".join(words).replace(str(FOLDER), "").encode()).hexdigest()[:32]


def _note(binary: Path, digest: str) -> Path:
    """The file that is there if the program, as it lies there, is built of these sources."""
    built = binary.stat().st_mtime_ns if binary.exists() else 0
    return binary.with_name(f"{binary.name}-{digest}-{built}.built")


def command(name: str = NAME, target: str = "") -> list[str]:
    """What builds a program, for rustc's `target` where one is given; `lab` and `./lab test` build
    the same.
    """
    cargo = ["cargo", "rustc", "--release", "--locked", "--target-dir", str(FOLDER / "target")]
    linking = OTHERS if target else STATIC if _has_static_libc() else ()
    return [
        *cargo,
        *(("--target", target) if target else ()),
        "--package",
        name,
        "--bin",
        name,
        "--",
        *linking,
    ]


def linted() -> tuple[str, ...]:
    """What stands before `cargo` so that clippy's lints are errors; nothing without clippy.

    clippy's driver is a compiler, too: what it has compiled once serves the lints, the tests and
    the differential test.
    """
    if shutil.which("clippy-driver") is None:
        return ()
    denied = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"  # as cargo clippy hands it on
    return ("env", "RUSTC_WORKSPACE_WRAPPER=clippy-driver", f"CLIPPY_ARGS={denied}")


def _has_static_libc() -> bool:
    """Whether the linker finds glibc as an archive; Debian's libc6-dev has it, others a package."""
    try:
        done = children.run(["cc", "-print-file-name=libc.a"], within_s=VERSION_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return Path(done.stdout.strip()).is_absolute()


def version(program: Path) -> str:
    """The version that the built `program` tells; "unknown" if it tells none."""
    try:
        status = program.stat()
    except OSError:
        return "unknown"
    return _version(program, (status.st_mtime_ns, status.st_size))


@cache
def _version(program: Path, _state: tuple[int, int]) -> str:
    """The same, asked once of a program in this state."""
    try:
        done = children.run([program, "--version"], within_s=VERSION_WITHIN_S)
    except subprocess.TimeoutExpired:
        return "unknown"
    return done.stdout.strip().removeprefix("virtual-nucleo ") or "unknown"


def _cargo_version() -> str:
    """What cargo says of itself. Raises BuildError where it is missing or too old."""
    if shutil.which("cargo") is None:
        raise BuildError(f"cargo is missing, which builds the virtual Nucleo; {REMEDY}.")
    try:
        done = children.run(["cargo", "--version"], within_s=VERSION_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise BuildError(f"cargo --version says nothing within {VERSION_WITHIN_S:g} s; {REMEDY}.") from None
    match = re.match(r"cargo (\d+)\.(\d+)", done.stdout)
    if match is None:
        raise BuildError(
            f"cargo does not tell its version ({(done.stderr or done.stdout).strip()}); {REMEDY}."
        )
    if (int(match[1]), int(match[2])) < MINIMUM_CARGO:
        needed = ".".join(map(str, MINIMUM_CARGO))
        raise BuildError(
            f"{done.stdout.strip()} is too old for the virtual Nucleo ({needed} or later); {REMEDY}."
        )
    return str(done.stdout)
