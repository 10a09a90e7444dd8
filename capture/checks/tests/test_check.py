"""The check against the virtual board: its clips are exchanged in the entry of bench.toml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from base.run_folder.edges import CHANNELS
from capture.checks.clips import check
from capture.desk.bench import BoardResource, read_bench

INPUTS = ("P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40")
BENCH = """\
default = "virtual"
[boards.virtual.loader]
kind = "virtual-nucleo"
[boards.virtual.serial]
port = "tcp"
[boards.virtual.analyzer]
preset = "beaglelogic"
samplerate_hz = 25_000_000
[boards.virtual.analyzer.channels]
"""


def board(folder: Path, inputs: Sequence[str] = INPUTS) -> BoardResource:
    """The virtual board, of which bench.toml says that these inputs see CRIT, OP and so on."""
    path = folder / "bench.toml"
    lines = (f'{channel} = "{name}"\n' for channel, name in zip(CHANNELS, inputs, strict=True))
    path.write_text(BENCH + "".join(lines))
    return read_bench(path).board()


def test_clips_that_are_exchanged_are_named(tmp_path: Path) -> None:
    """STIM and OP changed places, and the last three went round."""
    inputs = [INPUTS[at] for at in (0, 2, 1, 3, 4, 6, 7, 5)]
    findings = check(board(tmp_path, inputs))
    assert [clip.sees for clip in findings.clips] == [
        (channel,) for channel in ("CRIT", "STIM", "OP", "ISR", "TASK", "CISR", "SYNC", "CTRL")
    ]
    assert findings.remedies == (
        "P8_43 sees STIM and P8_46 sees OP: swap the clips of P8_43 and P8_46.",
        "P8_39 sees CISR: move its clip to CTRL (A1, CN8-2).",
        "P8_40 sees SYNC: move its clip to CISR (D4, CN9-5).",
        "P8_42 sees CTRL: move its clip to SYNC (D5, CN9-6).",
    )
