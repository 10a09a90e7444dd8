"""The tests of decoders/upstream, read as sigrok-test's `pdtest` reads them, and run by sigrok-cli.

`pdtest` starts a program of its own, `runtc`, which has to be compiled. sigrok-cli says the same at
its log level 4; only the sample numbers of binary output are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from base.run_folder.session_file import read_sr
from capture.acquisition.sigrok_cli import find_tool
from decoders.pulseview import VARIABLES
from decoders.tests.dumps import DUMPS, TESTS

_ALL_TEXTS = "4"


@dataclass(frozen=True)
class Output:
    """What is to come: `kind` annotation, binary or exception; of one class, or of all."""

    kind: str
    of: str | None
    match: str


@dataclass
class Case:
    """A test of a test.conf."""

    decoder: str
    name: str
    channels: dict[str, int] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    input: str = ""
    outputs: list[Output] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.decoder}/{self.name}"

    @property
    def expected(self) -> dict[str, Path]:
        """The file of each output that has one."""
        folder = TESTS / self.decoder
        return {output.match: folder / output.match for output in self.outputs if output.kind != "exception"}

    def said(self, output: Output, session: Path) -> str:
        """What sigrok-cli says of it, in the words of the file that it is to match."""
        if output.kind == "binary":
            return _run(self._arguments(session), "-B", f"{self.decoder}={output.of}").hex(" ")
        shown = f"{self.decoder}={output.of}" if output.of else self.decoder
        annotations = ("-A", shown, "--protocol-decoder-samplenum", "--loglevel", _ALL_TEXTS)
        text = _run(self._arguments(session), *annotations).decode()
        return re.sub(rf"^(\d+-\d+ {self.decoder})-1:", r"\1:", text, flags=re.M)

    def refused(self, session: Path) -> str:
        """What sigrok-cli says on standard error."""
        done = subprocess.run(
            [find_tool(), *self._arguments(session), "-A", self.decoder],
            capture_output=True,
            text=True,
            env=_environment(),
        )
        return done.stderr

    def _arguments(self, session: Path) -> list[str]:
        names = read_sr(session).channels if self.channels and session.exists() else ()
        wired = [f"{name}={names[number]}" for name, number in self.channels.items()] if names else []
        chosen = [f"{name}={value}" for name, value in self.options.items()]
        return ["-i", str(session), "-P", ":".join([self.decoder, *wired, *chosen])]


def cases() -> Iterator[Case]:
    """All tests, by decoder."""
    for path in sorted(TESTS.glob("*/test.conf")):
        yield from _read(path)


def session(case: Case) -> Path:
    """The dump that the test reads."""
    return DUMPS / case.input


def _read(path: Path) -> Iterator[Case]:
    case: Case | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        key, *words = line.split() or [""]
        if key == "test":
            if case:
                yield case
            (name,) = words
            case = Case(path.parent.name, name)
        elif case and key == "protocol-decoder":
            _take_decoder(case, *words)
        elif case and key == "input":
            (case.input,) = words
        elif case and key == "output":
            decoder, kind, *pairs = words
            assert decoder == case.decoder
            fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
            case.outputs.append(Output(kind, fields.get("class"), fields["match"]))
        else:
            assert not key, f"{path}: {line}"
    if case:
        yield case


def _take_decoder(case: Case, decoder: str, *words: str) -> None:
    assert decoder == case.decoder
    for kind, pair in zip(words[::2], words[1::2], strict=True):
        name, value = pair.split("=")
        if kind == "channel":
            case.channels[name] = int(value)
        else:
            assert kind == "option"
            case.options[name] = value


def _run(arguments: list[str], *output: str) -> bytes:
    command = [find_tool(), *arguments, *output]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=_environment(), check=True
    ).stdout


def _environment() -> dict[str, str]:
    return {**os.environ, **VARIABLES}
