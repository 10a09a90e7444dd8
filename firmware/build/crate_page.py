"""What the page of the crate `tlsf` publishes, made again: its table of FLL, and its text sizes.

heap/rust/page holds the two programs. `./lab heap reproduce` compares what they give.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from base.paths import COMPILED, ROOT
from firmware.build import footprint
from firmware.build.cmake_build import BuildError, run_step

_PACKAGE = ROOT / "firmware" / "heap" / "rust" / "page"
_BUILDS = COMPILED / "rust"
_TITLE = "The crate's page"
_BARE = ("-Clinker=arm-none-eabi-ld",)
_PC, _TARGET = "i686-unknown-linux-gnu", "thumbv7em-none-eabi"
_POINTER_BYTES = 4


class Level(NamedTuple):
    """Sizes in bytes."""

    fll: int
    header_bytes: int
    """Of the crate's structure on 32 bits, less the pool's address: the page's HEADER_SIZE."""
    largest_bytes: int
    """The largest request that a fresh pool of 64 KiB serves; nothing above it is served."""


def levels() -> list[Level]:
    """Every FLL from 1 to 11, found by running the crate. Raises BuildError."""
    # As rust.cmake has the flags for the PC: what was built of core with them serves here, too.
    source = Path(
        run_step(_TITLE, "say where it is", [_rustc(), "--print", "sysroot"]).strip(), "lib/rustlib/src/rust"
    )
    cargo = os.environ.get("CARGO_HOME") or f"{Path.home()}/.cargo"
    names = ((_PACKAGE.parent, "rust"), (_BUILDS, "build"), (cargo, "cargo"), (source.resolve(), "core"))
    flags = (f"--remap-path-prefix={folder}={name}" for folder, name in (*names, (source, "core")))
    program = _build("levels", _PC, "firmware", flags)
    rows = (map(int, line.split()) for line in run_step(_TITLE, "run", [str(program)]).splitlines())
    return [Level(fll, heap_bytes - _POINTER_BYTES, largest) for fll, heap_bytes, largest in rows]


def text_bytes(function: str) -> int:
    """.text with `free`, `initialize` and this function,
    malloc or memalign. Raises BuildError.
    """
    return footprint.section_bytes(_build("text", _TARGET, "page", _BARE, "--features", function))[".text"]


def rustc_version() -> str:
    """Of the compiler that builds the Rust allocators, such as 1.96.0. Raises BuildError."""
    return run_step(_TITLE, "say its version", [_rustc(), "--version"]).split()[1]


def _rustc() -> str:
    """As rust.cmake: Debian's if it is there, so that machines agree."""
    program = shutil.which("rustc", path="/usr/bin") or shutil.which("rustc")
    if program is None or shutil.which("cargo") is None:
        raise BuildError("rustc or cargo is missing: install the packages cargo-web and rust-web-src.")
    return program


def _build(program: str, target: str, profile: str, flags: Iterable[str], *options: str) -> Path:
    """A binary of the package, with nothing in the environment that would change its code."""
    encoded = "\x1f".join(flags)
    settings = (f"RUSTC={_rustc()}", "RUSTC_BOOTSTRAP=1", f"CARGO_ENCODED_RUSTFLAGS={encoded}")
    in_folder = ["env", "-C", str(_PACKAGE), *settings, "CARGO_INCREMENTAL=0", "cargo"]
    core = ("-Zbuild-std=core", "--locked", "--target", target)
    run_step(_TITLE, "fetch", [*in_folder, "fetch", *core])
    chosen = ("--profile", profile, "--bin", program, *options, "--target-dir", str(_BUILDS))
    run_step(_TITLE, "build", [*in_folder, "build", "--quiet", "--offline", *core, *chosen])
    return _BUILDS / target / profile / program
