"""A folder that looks like the repository to who types the commands of a page in it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from base.paths import ROOT
from firmware.build import image as firmware
from firmware.tests import probe_programs
from scenarios import catalogue
from simulator.serve import Served
from tests import lab, masked_sections
from tests.pages import Command
from tests.tables import beside

_LINKED = (
    "bench.toml",
    "decoders",
    "firmware",
    "pyocd_user.py",
    "simulator/target",
    "tests/masked_sections",
    "quality/soundness",
)
Done = subprocess.CompletedProcess[str]
TIMEOUT_S = 1_200
SMALL: dict[str, str] = beside(__file__)["small"]
_ALONE = re.compile(r"\./lab [^|&;<>$`*?~{}()\[\]#!\\\n]*")
"""A command that no shell needs to read."""
_RUN = re.compile(r"(?<!\$)\bRUN\b(?!=)")
_WRITTEN = re.compile(
    r"(?:>|\s-o|--(?:output|perfetto|folded|svg|edges|uart-log|windows|masks|mask-stacks|save-snapshot))"
    r"[ =]([\w./-]+)"
)


@dataclass
class Checkout:
    """Its runs and pages are its own; what is built is that of the repository. `./lab` goes
    straight to `python -m cli`: what is missing is not installed.
    """

    folder: Path
    _done: dict[tuple[str, str], Done] = field(default_factory=dict)
    """By script and folder: several pages may have the same command."""

    def __post_init__(self) -> None:
        for name in ("base", "cli", "docs", "tailscope"):
            shutil.copytree(ROOT / name, self.folder / name)
        with (self.folder / "base" / "paths.py").open("a", encoding="utf-8") as paths:
            # BUILD and RUNS stay those of the folder.
            paths.write(f"ROOT = Path({str(ROOT)!r})\nCOMPILED = ROOT / 'build'\n")
        for name in ("build/firmware", "quality", "runs", "simulator", "tests"):
            (self.folder / name).mkdir(parents=True)
        program = self.folder / "lab"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cli "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        self._link(".venv", Path(sys.prefix))
        for name in _LINKED:
            self._link(name, ROOT / name)
        for allocator in ("seglist", "tlsf"):
            self._link(f"build/firmware/{allocator}", firmware.build(allocator).elf.parent)
        operations = self.folder / "operations.bin"
        operations.write_bytes(catalogue.load("mem_frag").compile().image)
        for place in ("", "simulator/"):
            self._link(f"{place}fw.elf", firmware.build("seglist").elf)
            self._link(f"{place}ops.bin", operations)
        self._link("bare.elf", probe_programs.program("bare"))
        masked_sections.build(self.folder).rename(self.folder / "my.elf")
        (self.folder / "trace.csv").write_text("a,1,100\na,2,40\nf,1\nf,2\n", encoding="utf-8")

    def _link(self, name: str, target: Path) -> None:
        (self.folder / name).symlink_to(target)

    @cached_property
    def run(self) -> str:
        """The folder of a run, which takes the place of RUN."""
        done = self.typed(f"./lab scenario mem_frag --allocator tlsf {SMALL['mem_frag']}")
        assert done.returncode == 0, done.stderr
        return f"runs/{Path(done.stdout.split()[-1]).name}"

    def tried(self, command: Command) -> str:
        """What is wrong with what came of a page's command; "" if nothing is."""
        settings = command.marker.settings
        script = small(settings.get("as") or f"{command.script} {settings.get('with', '')}".strip())
        folder = settings.get("in", ".")
        done = self.typed(_RUN.sub(self.run, script) if _RUN.search(script) else script, folder)
        said = done.stdout + done.stderr
        missing = [name for name in _WRITTEN.findall(script) if not self._has(folder, name)]
        if done.returncode != int(settings.get("status", 0)) or "Traceback" in said:
            return f"{command}\n    ended with status {done.returncode}: {script}\n{said}"
        if not re.search(settings.get("says", ""), said, re.MULTILINE):
            return f"{command}\n    does not say {settings['says']}: {script}\n{said}"
        return f"{command}\n    did not write {', '.join(missing)}\n{said}" if missing else ""

    def _has(self, folder: str, name: str) -> bool:
        written = self.folder / folder / name
        return written.is_dir() or (written.is_file() and written.stat().st_size > 0)

    def typed(self, script: str, folder: str = ".") -> Done:
        """What came of a script, which is run once."""
        if (script, folder) not in self._done:
            self._done[script, folder] = self._type(script, folder)
        return self._done[script, folder]

    def _type(self, script: str, folder: str) -> Done:
        with ExitStack() as opened:
            if "127.0.0.1:5555" in script or "PORT" in script:
                board = opened.enter_context(Served(firmware.build("tlsf").elf, probe=True))
                script = script.replace("127.0.0.1:5555", board.probe)
                script = script.replace("PORT", board.analyzer.rpartition(":")[2])
            environment = self._environment()
            if _ALONE.fullmatch(script):
                words = shlex.split(script)[1:]
                return lab.run(*words, folder=self.folder, environment=environment, within_s=TIMEOUT_S)
            return subprocess.run(
                ["bash", "-c", f"set -e\n{script}"],
                cwd=self.folder / folder,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )

    def _environment(self) -> dict[str, str]:
        programs = (Path(sys.prefix, "bin"), ROOT / "simulator" / "target" / "release")
        path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
        return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def small(script: str) -> str:
    """A command of `./lab` with less to do: one allocator, a small scenario, no analyzer."""
    words = script.split()
    if "./lab" not in words:
        return script
    run = " ".join(words[words.index("./lab") + 1 :]).replace("=", " ").split()
    return script if not run else " ".join([script.replace("--allocator all", ""), *_less(run)])


def _less(words: list[str]) -> list[str]:
    added = [more for word, more in SMALL.items() if set(word.split()) <= set(words)]
    if {"scenario", "fragmentation"} & set(words) and ("all" in words or "--allocator" not in words):
        added.append("--allocator tlsf")
    if words[0] == "scenario" and not {"rtt", "--board", "--capture", "--help"} & set(words):
        added.append("--capture direct")
    return added
