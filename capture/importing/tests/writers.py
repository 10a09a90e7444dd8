"""Writers of other tools' files, each from its vendor's published description of the format.

They know edges and nothing of the readers. Channels are called as the tools call them: Channel 0 or
D0 and so on, in our order.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from base.run_folder.edges import EdgeList
from base.run_folder.session_file import write_sr

CHANNELS = {"CRIT": "D0", "OP": "D1", "STIM": "D2", "ISR": "D3"} | {
    "TASK": "D4",
    "CTRL": "D5",
    "CISR": "D6",
    "SYNC": "D7",
}


def by_sigrok(folder: Path, edges: EdgeList, suffix: str, *options: str) -> Path:
    """What sigrok-cli makes of the session: its channels keep our names."""
    write_sr(folder / "original.sr", edges)
    path = folder / f"exported.{suffix}"
    command = ["sigrok-cli", "-i", str(folder / "original.sr"), *options, "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def vcd(folder: Path, edges: EdgeList) -> Path:
    """IEEE 1364-2005, section 18: here with 10 ps, a variable of several bits, and $dumpvars.

    The last time is the end of the capture.
    """
    lines = ["$timescale 10ps $end", "$scope module top $end", "$var wire 8 # bus [7:0] $end"]
    lines += [f"$var wire 1 {chr(97 + bit)}! D{bit} $end" for bit in range(8)]
    lines += ["$upscope $end", "$enddefinitions $end"]
    before = None
    for sample, word in _rows(edges):
        lines.append(f"#{_rounded(sample * 10**11, edges.samplerate_hz)}")
        lines += ["$dumpvars", "b101 #"] if before is None else []
        changed = range(8) if before is None else [bit for bit in range(8) if (word ^ before) >> bit & 1]
        lines += [f"{word >> bit & 1}{chr(97 + bit)}!" for bit in changed]
        lines += ["$end"] if before is None else []
        before = word
    lines.append(f"#{_rounded(edges.total_samples * 10**11, edges.samplerate_hz)}")
    path = folder / "exported.vcd"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def logic_2_csv(folder: Path, edges: EdgeList, before_trigger: int = 0) -> Path:
    """`Time [s],Channel 0,…`, nine decimals, a line for each change; the trigger is at 0."""
    return _saleae_csv(folder, edges, "Time [s],", ",", 9, before_trigger)


def logic_1_csv(folder: Path, edges: EdgeList) -> Path:
    """`Time[s], Channel 0, …`, fifteen decimals."""
    return _saleae_csv(folder, edges, "Time[s], ", ", ", 15, 0)


def _saleae_csv(
    folder: Path, edges: EdgeList, first: str, separator: str, decimals: int, before_trigger: int
) -> Path:
    lines = [first + separator.join(f"Channel {bit}" for bit in range(8))]
    for sample, word in _rows(edges):
        digits = _rounded((sample - before_trigger) * 10**decimals, edges.samplerate_hz)
        sign, digits = ("-", -digits) if digits < 0 else ("", digits)
        time = f"{sign}{digits // 10**decimals}.{digits % 10**decimals:0{decimals}d}"
        lines.append(separator.join([time, *(str(word >> bit & 1) for bit in range(8))]))
    path = folder / "digital.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def logic_2_binary(folder: Path, edges: EdgeList, version: int = 0) -> Path:
    """A folder with digital_0.bin to digital_7.bin."""
    path = folder / f"binary_{version}"
    path.mkdir()
    rate = edges.samplerate_hz
    for bit, name in enumerate(edges.channels):
        moved = edges.transitions(name).sample.tolist()
        data = b"<SALEAE>" + struct.pack("<ii", version, 0)
        data += struct.pack("<Q", 1) if version else b""
        data += struct.pack("<I", edges.initial_level(name))
        data += struct.pack("<d", rate) if version else b""
        data += struct.pack("<ddQ", 0.0, edges.total_samples / rate, len(moved))
        data += b"".join(struct.pack("<d", sample / rate) for sample in moved)
        (path / f"digital_{bit}.bin").write_bytes(data)
    return path


def _rows(edges: EdgeList) -> Iterator[tuple[int, int]]:
    yield from zip(edges.sample.tolist(), edges.word.tolist(), strict=True)


def _rounded(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)
