"""Every check of the project, in the order in which a fault is cheapest to find."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware import catalogue

ROOT = Path(__file__).resolve().parent.parent
SIMULATOR = ROOT / "simulator"
RUST_HEAP = ROOT / "firmware" / "heap" / "rust"
RUST_ALLOCATORS = ("tlsf", "rlsf", "linked_list_allocator", "buddy_system_allocator")


@dataclass(frozen=True)
class Check:
    """One command that must exit with 0. `optional_tool` may be absent on a user's machine."""

    name: str
    command: Sequence[str]
    folder: Path = ROOT
    optional_tool: str | None = None

    def available(self) -> bool:
        """False when the optional tool it needs is not installed."""
        return self.optional_tool is None or shutil.which(self.optional_tool) is not None


def checks() -> list[Check]:
    """All checks; the room that each belongs to is the first word of its name."""
    return [*_python_style(), *_simulator(), *_rust_heap(), *_heap(), _python_tests()]


def _python_style() -> list[Check]:
    python = (sys.executable, "-m")
    return [
        Check("python: ruff", (*python, "ruff", "check", "--no-cache", ".")),
        Check("python: format", (*python, "ruff", "format", "--no-cache", "--check", ".")),
        Check("python: mypy", (*python, "mypy")),
    ]


def _simulator() -> list[Check]:
    clippy = ("cargo", "clippy", "--locked", "--release", "--all-targets", "--", "-D", "warnings")
    return [
        Check("simulator: format", ("cargo", "fmt", "--check"), SIMULATOR, "cargo-fmt"),
        Check("simulator: clippy", clippy, SIMULATOR, "cargo-clippy"),
        Check("simulator: tests", ("cargo", "test", "--locked", "--release"), SIMULATOR),
    ]


def _rust_heap() -> list[Check]:
    """Style of the package behind the Rust allocators; what they do is tested as every allocator's."""
    builds = ("--target-dir", str(ROOT / "build" / "rust-clippy"))
    clippy = ("cargo", "clippy", "--locked", "--profile", "firmware", *builds)
    checks = [Check("heap/rust: format", ("cargo", "fmt", "--check"), RUST_HEAP, "cargo-fmt")]
    for crate in RUST_ALLOCATORS:
        words = (*clippy, "--features", crate, "--", "-D", "warnings")
        checks.append(Check(f"heap/rust: clippy {crate}", words, RUST_HEAP, "cargo-clippy"))
    return checks


def _heap() -> list[Check]:
    """Contract tests of every allocator on the host, from configure to ctest."""
    checks = []
    for allocator, row in catalogue.allocators().items():
        if row.target_only or row.missing_checkout():
            continue
        folder = ROOT / "build" / "heap-tests" / allocator
        configure = ("cmake", "-S", "firmware/heap/tests", "-B", str(folder), "-G", "Ninja")
        checks += [
            Check(f"heap/{allocator}: configure", (*configure, f"-DTAILSCOPE_ALLOCATOR={allocator}")),
            Check(f"heap/{allocator}: build", ("cmake", "--build", str(folder))),
            Check(f"heap/{allocator}: contract", ("ctest", "--test-dir", str(folder), "--output-on-failure")),
        ]
    return checks


def _python_tests() -> Check:
    return Check("python: pytest", (sys.executable, "-m", "pytest"))


def run(selected: Sequence[Check]) -> int:
    """Runs the checks one after another, all of them even when one fails; returns how many failed."""
    outcomes: dict[str, str] = {}
    for row in catalogue.allocators().values():
        if missing := row.missing_checkout():
            print(f"{row.id} is left out of the checks. {missing}")
    for check in selected:
        print(f"\n== {check.name}", flush=True)
        outcomes[check.name] = _outcome(check)
    failed = [name for name, outcome in outcomes.items() if outcome == "failed"]
    skipped = [name for name, outcome in outcomes.items() if outcome == "skipped"]
    for name in failed:
        print(f"failed: {name}")
    for name in skipped:
        print(f"skipped, its tool is not installed here: {name}")
    passed = len(outcomes) - len(failed) - len(skipped)
    print(f"checks: {passed} passed, {len(failed)} failed, {len(skipped)} skipped", flush=True)
    return len(failed)


def _outcome(check: Check) -> str:
    if not check.available():
        return "skipped"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        check.command, cwd=check.folder, check=False, env=environment, stdin=subprocess.DEVNULL
    )
    return "passed" if done.returncode == 0 else "failed"
