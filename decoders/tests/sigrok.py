"""The decoders of this room in sigrok-cli, over a session file; and what they declare."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from base.files.errors import CaptureError
from capture.acquisition.sigrok_cli import find_tool, unexpected_lines
from decoders import pulseview

UPSTREAM = pulseview.FOLDER / "upstream"
DUMPS = UPSTREAM / "sigrok-dumps"
DRAWN = DUMPS / "critical_sections" / "tailscope"


def said(session: Path, decoder: str, *output: str) -> str:
    """What sigrok-cli prints for `output`, such as `-A CLASSES`. Binary output is bytes as hex.

    `decoder` is the argument of -P, such as `critical_section:crit=CRIT:op=OP`; a stack has its
    decoders separated by commas. Raises CaptureError, with what sigrok-cli said, where it could not
    decode: it exits with 0 even if a decoder broke off, so its words decide.
    """
    command = [find_tool(), "-i", str(session), "-P", decoder, *output, "--protocol-decoder-samplenum"]
    environment = {**os.environ, **pulseview.VARIABLES}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment)
    complaints = [] if "--loglevel" in output else unexpected_lines(done.stderr.decode(errors="replace"))
    if done.returncode or complaints:
        words = " / ".join(complaints[:5]) or f"exit status {done.returncode}"
        raise CaptureError(f"sigrok could not decode {session} with {decoder}: {words}")
    return done.stdout.hex(" ") if "-B" in output else done.stdout.decode()


def binary(session: Path, decoder: str, output_class: str) -> bytes:
    """The bytes of an output class, such as `critical_section=pulses`."""
    return bytes.fromhex(said(session, decoder, "-B", output_class))


def loaded(decoder: str) -> Any:
    """The module of a decoder, with a stand-in for sigrok's."""
    path = pulseview.FOLDER / decoder / "pd.py"
    stand_in: Any = ModuleType("sigrokdecode")
    stand_in.Decoder = object
    spec = importlib.util.spec_from_file_location(decoder, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, sigrokdecode=stand_in):
        spec.loader.exec_module(module)
    return module
