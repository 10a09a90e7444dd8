"""The script `lab` on a machine that misses something: what it installs for a command, and how that
ends. apt-get, cargo and Python are stand-ins that note how they were called.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from base.paths import ROOT
from simulator.build import STATIC
from tests import packages
from tests.processes import MARKER, processes_of, wait_until
from tests.tables import table

TOOLS = """\
# a comment
no-such-compiler\tcompiler-package\talways\tnothing
no-such-desk\tdesk-package desk-firmware\ttest,desk,soak\tnothing
no-such-viewer\tviewer\tviewer\tnothing
no-such-server\tserver\toptional\tnothing
/usr/lib/gcc/x86_64-linux-gnu/no-such\tonly-for-pc\talways\tnothing
"""
PACKAGES = """\
# Debian\tFedora\tArch\tHomebrew
compiler-package\tcc-fedora libc.i686\tcc-arch\tcc-brew
desk-package\tcc-fedora\tdesk-arch\t-
desk-firmware\t-\tfirmware-arch\t-
"""
PYTHON = """\
case "$2" in
    venv) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    pip) echo pip >>"$NOTES"; eval "$PIP" ;;
    */cli/__main__.py) shift 2; echo "cli $*"; [ "$1" != where ] || pwd ;;
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
            "PATH": f"{programs}{os.pathsep}{does.get('path') or os.environ['PATH']}",
            "LAB_SYSTEM": does.get("system", ""),
            "TAILSCOPE_PYTHON": str(programs / "python3"),
            "NOTES": str(self.folder / "notes"),
            "TAILSCOPE_CACHE": str(self.folder / "cache"),
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
            cwd=does.get("at"),
        )

    def run(self, *words: str, **does: str) -> tuple[int, str, str]:
        """Exit status, output and complaints."""
        process = self.begin(*words, **does)
        output, complaints = process.communicate(timeout=300)
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
    (tmp_path / "cli" / "packages.tsv").write_text(PACKAGES)
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


@table
def test_a_command_gets_what_it_needs(machine: Machine, line: str, packages: str) -> None:
    status, output, complaints = machine.run(*line.split())
    assert (status, output) == (0, f"cli {line}\n"), complaints
    assert machine.installed == packages


def test_a_command_runs_in_the_folder_that_it_is_called_in(machine: Machine, tmp_path: Path) -> None:
    project = tmp_path / "my project"
    project.mkdir()
    assert machine.run("where", at=str(project))[:2] == (0, f"cli where\n{project}\n")


def test_what_runs_beside_the_packages_need_not_wait_for_them(machine: Machine) -> None:
    """apt-get ends once pip and cargo have run."""
    both = 'until grep -q pip "$NOTES" && grep -q "cargo rustc" "$NOTES"; do sleep 0.05; done'
    assert machine.run("demo", apt=both)[0] == 0
    assert {"pip", "cargo rustc"} < set(machine.notes)


def test_what_another_checkout_has_built_is_not_built_beside_it(machine: Machine) -> None:
    (machine.folder / "cache" / "built").mkdir(parents=True)
    (machine.folder / "cache" / "built" / "virtual-nucleo-1").touch()
    machine.run("demo")
    assert not any("cargo rustc" in note for note in machine.notes)


def test_the_second_time_nothing_is_installed(machine: Machine) -> None:
    machine.run("doctor")
    (machine.folder / "cli" / "tools.tsv").write_text("")
    before = machine.notes
    assert machine.run("list") == (0, "cli list\n", "")
    assert machine.notes == before


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
    started = {"pip", "cargo rustc", f"{INSTALL}compiler-package"}
    assert wait_until(lambda: started <= set(machine.notes))
    if to_all:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    output, complaints = process.communicate(timeout=300)
    assert (process.returncode, output) == (status, "")
    assert complaints.count("stopped by") == 1
    assert complaints.endswith(f"lab: stopped by {number.name} while preparing; nothing was recorded\n")
    assert wait_until(lambda: not processes_of(machine.mark))


def test_packages_are_named_before_they_are_installed(machine: Machine) -> None:
    status, _, complaints = machine.run("list", apt="exit 100")
    named = "lab: installing Debian packages (LAB_SYSTEM=no forbids it): compiler-package\n"
    assert status == 2
    assert complaints.index(named) < complaints.index("apt-get could not install")


def test_the_system_is_left_alone_where_that_is_asked_for(machine: Machine) -> None:
    status, output, complaints = machine.run("dev", "soak", "--board", "desk", system="no")
    assert (status, output) == (2, "")
    assert complaints == (
        "lab: LAB_SYSTEM=no leaves the system alone, and these Debian packages are missing: "
        "compiler-package desk-firmware desk-package\n"
    )
    assert machine.notes == []


def test_python_and_rust_are_named_with_the_rest(machine: Machine) -> None:
    (machine.folder / "bin" / "cargo").write_text("#!/bin/sh\nexit 1\n")
    (machine.folder / "bin" / "python3").write_text("#!/bin/sh\nexit 1\n")
    assert machine.run("list", system="no")[2].endswith(
        "missing: cargo-web compiler-package gcc python3 python3-venv rustc-web\n"
    )


def test_where_nothing_is_missing_the_system_is_no_matter(machine: Machine) -> None:
    (machine.folder / "cli" / "tools.tsv").write_text("")
    assert machine.run("list", system="no")[:2] == (0, "cli list\n")


NEEDED = (
    *("bash", "cat", "cp", "dirname", "env", "flock", "grep", "mkdir"),
    *("sed", "sha256sum", "sort", "tail", "tr"),
)


@pytest.fixture
def no_apt(machine: Machine) -> str:
    """The PATH of a machine that is no Debian."""
    (machine.folder / "bin" / "apt-get").unlink()
    folder = machine.folder / "other"
    folder.mkdir()
    for name in NEEDED:
        (folder / name).symlink_to(shutil.which(name) or "")
    return str(folder)


def test_without_apt_other_systems_names_are_told(machine: Machine, no_apt: str) -> None:
    status, output, complaints = machine.run("test", path=no_apt)
    assert (status, output) == (2, "")
    assert complaints == (
        "lab: there is no apt-get to install what is missing; do it by hand "
        "(Fedora: dnf install cc-fedora libc.i686; Arch: pacman -S cc-arch desk-arch firmware-arch; "
        "Homebrew: brew install cc-brew; Debian: compiler-package desk-firmware desk-package)\n"
    )
    assert machine.notes == []


def test_a_page_of_help_needs_no_compiler_and_a_run_does(machine: Machine) -> None:
    (machine.folder / "cli" / "tools.tsv").write_text("no-such-compiler\tcompiler-package\tbuilds\tnothing\n")
    assert machine.run("scenario", "--help")[0] == 0
    assert machine.installed == ""
    assert machine.run("scenario", "mem_frag")[0] == 0
    assert machine.installed == "compiler-package"


def test_the_simulator_is_linked_as_the_bench_looks_for_it() -> None:
    """Other words to rustc would be another program: the first command would build it again."""
    match = re.search(r"static=\((-C .*?)\)", (ROOT / "lab").read_text("utf-8"))
    assert match is not None
    assert tuple(match[1].split()) == STATIC


@pytest.mark.skipif(not shutil.which("apt-cache"), reason="this is no Debian")
def test_debian_has_every_package() -> None:
    lines = (ROOT / "cli" / "packages.tsv").read_text("utf-8").splitlines()
    names = [line.partition("\t")[0] for line in lines if line and not line.startswith("#")]
    assert not [name for name in names if not packages.has_candidate(name)]
