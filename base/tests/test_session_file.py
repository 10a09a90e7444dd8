import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.errors import CaptureError
from base.run_folder import session_file
from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.session_file import read_sr, write_sr
from tests.sentences import Sentences

METADATA = """[global]
sigrok version=0.5.2

[device 1]
capturefile=logic-1
total probes=8
samplerate=24 MHz
total analog=0
probe1=D0
probe4=D3
unitsize=1
"""


def edges_of(samples: bytes, samplerate_hz: int = 84_000_000) -> EdgeList:
    rows = [index for index in range(len(samples)) if index == 0 or samples[index] != samples[index - 1]]
    word = np.frombuffer(samples, np.uint8)[rows]
    return EdgeList(np.array(rows, np.int64), word, samplerate_hz, len(samples))


def session(path: Path, members: dict[str, bytes], metadata: str = METADATA, version: bytes = b"2") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {"version": version, "metadata": metadata.encode(), **members}.items():
            archive.writestr(name, data)
    return path


def samples_by_sigrok(path: Path) -> bytes:
    command = ["sigrok-cli", "-i", str(path), "-O", "binary"]
    return subprocess.run(command, check=True, capture_output=True).stdout


@given(samples=st.lists(st.tuples(st.integers(0, 255), st.integers(1, 40)), min_size=1, max_size=20))
def test_chunk_borders_neither_lose_nor_add_samples(
    samples: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    stream = b"".join(bytes([byte]) * count for byte, count in samples)
    path = tmp_path_factory.mktemp("session") / "capture.sr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_file, "CHUNK_SAMPLES", 16)
        write_sr(path, edges_of(stream))
    with zipfile.ZipFile(path) as archive:
        chunks = [archive.read(f"logic-1-{number}") for number in range(1, -(-len(stream) // 16) + 1)]
    assert b"".join(chunks) == stream
    assert read_sr(path) == edges_of(stream)


def test_sigrok_reads_the_same_samples_over_several_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_file, "CHUNK_SAMPLES", 1000)
    stream = np.random.default_rng(7).integers(0, 256, 10_500, np.uint8).tobytes()
    write_sr(tmp_path / "capture.sr", edges_of(stream))
    assert samples_by_sigrok(tmp_path / "capture.sr") == stream


@pytest.mark.parametrize("samplerate_hz", [84_000_000, 24_000_000, 1, 12_345_678, 200_000_000])
def test_sigrok_sees_the_exact_samplerate_and_the_channel_names(tmp_path: Path, samplerate_hz: int) -> None:
    write_sr(tmp_path / "capture.sr", edges_of(b"\x00\x01", samplerate_hz))
    command = ["sigrok-cli", "-i", str(tmp_path / "capture.sr"), "--show"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"Samplerate: {samplerate_hz}\n" in shown
    assert [line.split()[1].rstrip(":") for line in shown.splitlines() if line.startswith("- ")] == list(
        CHANNELS
    )


def test_what_sigrok_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "demo.sr"
    options = ["-c", "samplerate=1500k", "-C", "D0,D3", "--samples", "5000"]
    subprocess.run(["sigrok-cli", "-d", "demo", *options, "-o", str(path)], check=True)
    raw = np.frombuffer(samples_by_sigrok(path), np.uint8)
    edges = read_sr(path)
    assert (edges.samplerate_hz, edges.channels, edges.total_samples) == (1_500_000, ("D0", "D3"), 5000)
    assert np.array_equal(
        np.repeat(edges.word, np.diff(edges.sample, append=5000)), (raw & 1) | (raw >> 3 & 1) << 1
    )


def test_the_bytes_are_repeatable_and_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    for name in "ab":
        write_sr(tmp_path / name, edges_of(b"\x00\x01\x01\x80" * 100))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_chunks_are_ordered_by_number_not_by_name(tmp_path: Path) -> None:
    members = {f"logic-1-{number}": bytes([number & 1]) * 10 for number in range(12, 0, -1)}
    assert read_sr(session(tmp_path / "s.sr", members)).sample.tolist() == list(range(0, 120, 10))


def test_a_wrong_session_is_one_sentence(tmp_path: Path, sentences: Sentences) -> None:
    path, chunk = tmp_path / "wrong.sr", {"logic-1-1": b"\0"}
    session(path, {})
    with sentences.raised(CaptureError):
        read_sr(path)
    session(path, {"logic-1-1": b"", "logic-1-3": b""})
    with sentences.raised(CaptureError):
        read_sr(path)
    session(path, chunk, version=b"3")
    with sentences.raised(CaptureError):
        read_sr(path)
    for was, becomes in (
        *(("unitsize=1", "unitsize=9"), ("unitsize=1", "unitsize=2"), ("probes=8", "probes=16")),
        *(("24 MHz", "fast"), ("24 MHz", "0"), ("samplerate=24 MHz\n", ""), ("D3", "D0"), ("probe", "cable")),
        *((METADATA, "nonsense"), (METADATA, METADATA + "x" * 70_000)),
    ):
        session(path, chunk, METADATA.replace(was, becomes))
        with sentences.raised(CaptureError):
            read_sr(path)


def test_a_zip_bomb_is_refused_before_it_is_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = session(tmp_path / "bomb.sr", {"logic-1-1": bytes(5_000_000)})
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(session_file, "MOST_SAMPLES", 1_000_000)
    with pytest.raises(CaptureError, match="5000000 samples"):
        read_sr(path)


def test_a_chunk_that_inflates_to_more_than_it_states_is_refused(tmp_path: Path) -> None:
    path = session(tmp_path / "liar.sr", {"logic-1-1": bytes(70_001)})
    true_size, size_written = (70_001).to_bytes(4, "little"), (7).to_bytes(4, "little")
    data = path.read_bytes()
    assert data.count(true_size) == 2
    path.write_bytes(data.replace(true_size, size_written))
    with pytest.raises(CaptureError, match="not a readable zip"):
        read_sr(path)


def test_damage_anywhere_is_a_sentence_or_harmless(tmp_path: Path) -> None:
    good = tmp_path / "good.sr"
    write_sr(good, edges_of(b"\x00\x01\x01\x80" * 1000))
    intact, data = read_sr(good), good.read_bytes()
    random = np.random.default_rng(3)
    refused = 0
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= int(random.integers(1, 256))
        (tmp_path / "bad.sr").write_bytes(damaged)
        try:
            assert read_sr(tmp_path / "bad.sr") == intact
        except CaptureError:
            refused += 1
    assert refused > len(data) // 4
