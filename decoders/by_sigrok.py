"""The sigrok decoders of this folder, run by sigrok-cli over a session file."""

import os
import subprocess
from pathlib import Path

from capture.acquisition.sigrok_cli import find_tool, unexpected_lines
from capture.files.errors import CaptureError

FOLDER = Path(__file__).resolve().parent


def environment() -> dict[str, str]:
    """The environment in which sigrok finds the decoders of this folder."""
    return {**os.environ, "SIGROKDECODE_DIR": str(FOLDER), "PYTHONDONTWRITEBYTECODE": "1"}


def annotations(session: Path, decoder: str, classes: str) -> list[str]:
    """The lines of `-A classes`, each with its samples: `START-END name: text`.

    `decoder` is the argument of sigrok-cli's -P, as in `critical_section:crit=CRIT:op=OP`.
    """
    output = _run(session, decoder, "-A", classes, "--protocol-decoder-samplenum")
    return output.decode().splitlines()


def binary(session: Path, decoder: str, output_class: str) -> bytes:
    """The bytes of `-B output_class`, as in `critical_section=pulses`."""
    return _run(session, decoder, "-B", output_class)


def _run(session: Path, decoder: str, *output: str) -> bytes:
    """Raises CaptureError with what sigrok-cli said: it exits with 0 even when a decoder broke off."""
    command = [find_tool(), "-i", str(session), "-P", decoder, *output]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment())
    said = unexpected_lines(done.stderr.decode(errors="replace"))
    if done.returncode or said:
        words = " / ".join(said[:5]) or f"exit status {done.returncode}"
        raise CaptureError(f"sigrok could not decode {session} with {decoder}: {words}")
    return done.stdout
