"""The script `lab` on a machine that misses something: what it installs for a command, and how that
ends. apt-get, cargo and Python are stand-ins that note how they were called.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from base.paths import ROOT
from tests.processes import MARKER, processes_of, wait_until

TOOLS = """\
# a comment
no-such-compiler\tcompiler-package\talways\tnothing
no-such-desk\tdesk-package desk-firmware\ttest,desk,soak\tnothing
no-such-viewer\tviewer\tviewer\tnothing
no-such-server\tserver\toptional\tnothing
/usr/lib/gcc/x86_64-linux-gnu/no-such\tonly-for-pc\talways\tnothing
"""
PYTHON = """\
case "$2" in
    venv) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    pip) echo pip >>"$NOTES"; eval "$PIP" ;;
    cli) shift 2; echo "cli $*" ;;
esac
"""
APT = """\
echo "apt-get $*" >>"$NOTES"
[ "$1" = update ] || eval "$APT"
"""
CARGO = """\
if [ "$1" = --version ]; then echo "cargo 1.90.0"; else echo "cargo $1" >>"$NOTES"; eval "$CARGO"; fi
"""

INSTALL = "apt-get install -y -qq --no-install-recommends "


@dataclass(frozen=True)
class Machine:
    """`pip`, `apt` and `cargo` are what these do, in words of the shell."""

    folder: Path
    mark: str

    def begin(self, *words: str, **does: str) -> subprocess.Popen[str]:
        programs = self.folder / "bin"
        environment = {
            **os.environ,
            **{name: does.get(name.lower(), ":") for name in ("PIP", "APT", "CARGO", "ROOT")},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "TAILSCOPE_PYTHON": str(programs / "python3"),
            "NOTES": str(self.folder / "notes"),
            MARKER: self.mark,
        }
        return subprocess.Popen(
            [self.folder / "lab", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def run(self, *words: str, **does: str) -> tuple[int, str, str]:
        """Exit status, output and complaints."""
        process = self.begin(*words, **does)
        output, complaints = process.communicate(timeout=60)
        return process.returncode, output, complaints

    @property
    def notes(self) -> list[str]:
        file = self.folder / "notes"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def installed(self) -> str:
        """What apt-get was asked to install, the last time."""
        asked = [note.removeprefix(INSTALL) for note in self.notes if note.startswith(INSTALL)]
        return asked[-1] if asked else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    shutil.copy(ROOT / "lab", tmp_path)
    for name in ("cli", "bin", "simulator"):
        (tmp_path / name).mkdir()
    (tmp_path / "cli" / "tools.tsv").write_text(TOOLS)
    for name in ("requirements.lock", "requirements-test.lock"):
        (tmp_path / name).write_text("")
    stands_in = {
        "python3": PYTHON,
        "apt-get": APT,
        "cargo": CARGO,
        "id": 'echo "${ROOT/:/0}"\n',
        "cc": "",
        "uname": "echo x\n",
    }
    for name, body in stands_in.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{body}")
        (tmp_path / "bin" / name).chmod(0o755)
    return Machine(tmp_path, uuid.uuid4().hex)


@pytest.mark.parametrize(
    ("line", "packages"),
    [
        ("list", "compiler-package"),
        ("scenario mem_frag --board virtual", "compiler-package"),
        ("scenario mem_frag --board desk", "compiler-package desk-package desk-firmware"),
        ("scenario mem_frag --board=desk", "compiler-package desk-package desk-firmware"),
        ("dev soak --board virtual,desk", "compiler-package desk-package desk-firmware"),
        ("soak", "compiler-package desk-package desk-firmware"),
        ("test", "compiler-package desk-package desk-firmware"),
        ("viewer runs/one", "compiler-package viewer"),
        ("doctor --board desk", ""),
        ("completion bash", ""),
    ],
)
def test_a_command_gets_what_it_needs(machine: Machine, line: str, packages: str) -> None:
    status, output, complaints = machine.run(*line.split())
    assert (status, output) == (0, f"cli {line}\n"), complaints
    assert machine.installed == packages


def test_what_runs_beside_the_packages_need_not_wait_for_them(machine: Machine) -> None:
    """apt-get ends once pip and cargo have run."""
    both = 'until grep -q pip "$NOTES" && grep -q "cargo build" "$NOTES"; do sleep 0.05; done'
    assert machine.run("demo", apt=both)[0] == 0
    assert {"pip", "cargo build"} < set(machine.notes)


def test_the_second_time_nothing_is_installed(machine: Machine) -> None:
    machine.run("doctor")
    (machine.folder / "cli" / "tools.tsv").write_text("")
    before = machine.notes
    assert machine.run("list") == (0, "cli list\n", "")
    assert machine.notes == before


def test_a_package_that_is_missing_ends_what_runs_beside(machine: Machine) -> None:
    status, output, complaints = machine.run("demo", apt="echo no such package; exit 100", pip="sleep 600")
    assert (status, output) == (2, "")
    assert complaints.endswith("no such package\nlab: apt-get could not install: compiler-package\n")
    assert wait_until(lambda: not processes_of(machine.mark))


def test_that_pip_failed_is_said_and_its_last_words(machine: Machine) -> None:
    status, output, complaints = machine.run("demo", pip="echo no such wheel; exit 1", cargo="sleep 600")
    assert (status, output) == (2, "")
    assert (
        "no such wheel\nlab: pip could not install requirements.lock; see its message above\n" in complaints
    )
    assert "no such wheel" in (machine.folder / ".lab" / "install_python.log").read_text()
    assert wait_until(lambda: not processes_of(machine.mark))


def test_that_cargo_failed_the_command_says_itself(machine: Machine) -> None:
    assert machine.run("demo", cargo="exit 1")[:2] == (0, "cli demo\n")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("to_all", [True, False])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_all_with_one_sentence(
    machine: Machine, number: signal.Signals, status: int, to_all: bool
) -> None:
    """From a terminal it comes to the whole group, by kill to the script alone."""
    does = {"pip": "sleep 600", "cargo": "sleep 600", "apt": "sleep 600" if to_all else ":"}
    process = machine.begin("demo", **does)
    begun = {"pip", "cargo build", f"{INSTALL}compiler-package"}
    assert wait_until(lambda: begun <= set(machine.notes))
    if to_all:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    output, complaints = process.communicate(timeout=60)
    assert (process.returncode, output) == (status, "")
    assert complaints.count("stopped by") == 1
    assert complaints.endswith(f"lab: stopped by {number.name} while preparing; nothing was recorded\n")
    assert wait_until(lambda: not processes_of(machine.mark))


def test_that_root_is_needed_is_said_before_anything_begins(machine: Machine) -> None:
    """For a user whom sudo would ask for a password."""
    (machine.folder / "bin" / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (machine.folder / "bin" / "sudo").chmod(0o755)
    status, _, complaints = machine.run("list", root="1000")
    assert status == 2
    assert "this needs root" in complaints
    assert complaints.endswith("start again: sudo apt-get install --no-install-recommends compiler-package\n")
    assert machine.notes == []
