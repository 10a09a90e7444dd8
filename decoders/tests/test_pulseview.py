import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

from capture.run_folder.edges import CHANNELS
from decoders import by_sigrok, pulseview


def declared_channels(decoder: str) -> list[str]:
    """The names of a decoder's channels as sigrok-cli tells them, in the order of their numbers."""
    shown = subprocess.run(
        ["sigrok-cli", "-P", decoder, "--show"],
        env=by_sigrok.environment(),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    section = shown[shown.index("Required channels:") : shown.index("Options:")]
    return re.findall(r"^- \w+ \((\w+)\)", section, re.M)


@pytest.mark.parametrize("number", range(2))
def test_each_signal_goes_to_the_channel_of_its_name(number: int) -> None:
    settings = configparser.ConfigParser(interpolation=None)
    settings.read_string(pulseview.setup())
    assert settings["General"]["decode_signals"] == "2"
    signal = settings[f"decode_signal{number}"]
    declared = declared_channels(signal[r"decoder0\id"])
    assert int(signal["channels"]) == len(declared) > 0
    assigned = [signal[rf"channel{index}\assigned_signal_name"] for index in range(len(declared))]
    assert assigned == declared
    assert set(assigned) <= set(CHANNELS)


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tailscope.pvs"
    subprocess.run(
        [sys.executable, "-m", "decoders.pulseview", path],
        check=True,
        cwd=Path(pulseview.__file__).parents[1],
    )
    assert path.read_text(encoding="utf-8") == pulseview.setup()
