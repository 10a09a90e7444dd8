"""Runs the decoders of this room in sigrok-cli, over a session file."""

import os
import subprocess
from pathlib import Path

from base.files.errors import CaptureError
from capture.acquisition.sigrok_cli import find_tool, unexpected_lines
from decoders.pulseview import VARIABLES


def environment() -> dict[str, str]:
    """The environment in which sigrok finds the decoders of this room."""
    return {**os.environ, **VARIABLES}


def annotations(session: Path, decoder: str, classes: str) -> list[str]:
    """The lines of sigrok-cli's `-A classes`, each with its samples: `START-END name: text`.

    `decoder` is the argument of -P, such as `critical_section:crit=CRIT:op=OP`; a stack has its
    decoders separated by commas. Raises CaptureError, with what sigrok-cli said, where it could not
    decode.
    """
    output = _run(session, decoder, "-A", classes, "--protocol-decoder-samplenum")
    return output.decode().splitlines()


def binary(session: Path, decoder: str, output_class: str) -> bytes:
    """The bytes of sigrok-cli's `-B output_class`, such as `critical_section=pulses`.

    Raises CaptureError as annotations() does.
    """
    return _run(session, decoder, "-B", output_class)


def meta(session: Path, decoder: str, decoder_id: str) -> list[str]:
    """The lines of sigrok-cli's `-M decoder_id`, such as `alloc_records-1: Records: 120`.

    Raises CaptureError as annotations() does.
    """
    return _run(session, decoder, "-M", decoder_id).decode().splitlines()


def _run(session: Path, decoder: str, *output: str) -> bytes:
    """What sigrok-cli prints. It exits with 0 even if a decoder broke off, so its words decide."""
    command = [find_tool(), "-i", str(session), "-P", decoder, *output]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment())
    said = unexpected_lines(done.stderr.decode(errors="replace"))
    if done.returncode or said:
        words = " / ".join(said[:5]) or f"exit status {done.returncode}"
        raise CaptureError(f"sigrok could not decode {session} with {decoder}: {words}")
    return done.stdout
