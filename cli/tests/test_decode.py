from pathlib import Path

import pytest

from base.run_folder.session_file import write_sr
from capture.importing import formats
from capture.reading.tests.waveform import Waveform
from cli import decode
from cli.tests.typed import refused


def imported(folder: Path, channels: dict[str, str] | None = None) -> formats.Import:
    """Two sections of 100 and 300 samples, and a stimulus that is answered after 40."""
    wave = Waveform(4000)
    wave.pulse("CRIT", 200, 300)
    wave.pulse("CRIT", 1000, 1300)
    wave.toggle("STIM", 600)
    wave.pulse("ISR", 640, 650)
    write_sr(folder / "other.sr", wave.edges())
    return formats.read(folder / "other.sr", channels, None)


def test_without_a_run_widths_intervals_and_latencies_are_told(tmp_path: Path) -> None:
    """At 84 MS/s 100, 300, 800 and 40 samples are 1190.5, 3571.4, 9523.8 and 476.2 ns."""
    pulses = decode.pulses(imported(tmp_path))
    assert pulses["verdict"] == "inconclusive"
    assert pulses["widths_ns"]["CRIT"]["n"] == 2
    assert pulses["widths_ns"]["CRIT"]["min"] == pytest.approx(1190.476, abs=0.001)
    assert pulses["widths_ns"]["CRIT"]["max"] == pytest.approx(3571.429, abs=0.001)
    assert pulses["intervals_ns"]["CRIT"]["max"] == pytest.approx(9523.810, abs=0.001)
    assert pulses["latencies_ns"]["STIM to ISR"]["max"] == pytest.approx(476.190, abs=0.001)
    assert pulses["widths_ns"]["OP"]["n"] == 0
    assert pulses["imported"]["format"] == "sigrok session"


def test_the_text_names_file_rate_channels_and_what_is_missing(tmp_path: Path) -> None:
    text = decode.as_text(imported(tmp_path, {"CRIT": "CRIT", "ISR": "ISR"}))
    assert "other.sr (sigrok session): 4,000 samples at 84,000,000 Hz (as the file states)" in text
    assert "CRIT is CRIT, ISR is ISR." in text
    assert "3.57" in text and "STIM" not in text
    assert "inconclusive: Without records and the scenario" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--uart u.log", "--uart alone is not enough"),
        ("--scenario mem_frag", "go together"),
        ("--allocator tlsf", "go together"),
        ("--run . --scenario mem_frag --allocator tlsf", "not both"),
        ("--channels CRIT", "give OURS=THEIRS"),
        ("--channels CRIT=D0,CRIT=D1", "names a channel twice"),
        ("--scenario mem_frag --allocator best", "There is no allocator 'best'"),
        ("--scenario mem_frag --allocator tlsf,seglist", "give one, the one that was captured"),
        ("--board nucleo-f446re", "--board goes with --scenario and --allocator"),
        ("--run . --board nucleo-f446re", "a run folder tells its board itself"),
        ("--scenario mem_frag --allocator tlsf --board nucleo-f999re", "There is no board 'nucleo-f999re'"),
    ],
)
def test_a_wrong_option_is_one_sentence(words: str, said: str) -> None:
    assert said in refused("decode", "other.sr", *words.split())


def test_a_wrong_file_is_one_sentence(tmp_path: Path) -> None:
    said = refused("decode", str(tmp_path / "none.vcd"), "--channels", "CRIT=D0")
    assert "cannot be imported: No such file" in said
