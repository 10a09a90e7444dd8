from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from base.files.errors import CaptureError
from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.edge_stream import StreamedCapture, read_stream
from base.run_folder.edges import CHANNELS, MOST_EDGES, MOST_SAMPLES, EdgeList
from base.run_folder.folder import EDGE_STREAM
from base.run_folder.kept import read_kept
from capture.acquisition import keeper, sigrok_cli
from capture.acquisition.keeper import Keeper, Keeping
from capture.acquisition.sigrok_cli import (
    CaptureRequest,
    CaptureResult,
    SigrokCapture,
    unexpected_lines,
)
from capture.desk.bench import AnalyzerResource
from tests.processes import wait_until
from tests.tables import table

MANY_S = 60.0  # never reached: what is waited for in these tests comes
STALL_S = 2.0  # of silence behind the first sample
DEVICE_CHANNELS = tuple(f"D{number}" for number in range(8))


def waveform(samples: int) -> bytes:
    """Stretches of one level between 1 and 400 samples."""
    random = np.random.default_rng(11)
    lengths = random.integers(1, 400, samples)
    return np.repeat(random.integers(0, 256, samples, np.uint8), lengths)[:samples].tobytes()


def capture(request: CaptureRequest, silence_s: float = MANY_S) -> CaptureResult:
    with TemporaryDirectory() as folder, SigrokCapture(request, Path(folder) / EDGE_STREAM) as running:
        running.start()
        assert wait_until(lambda: bool(running.got_samples) or running.over)  # from then on it may be silent
        return running.wait(silence_s)


def expanded(edges: EdgeList) -> bytes:
    return np.repeat(edges.word, np.diff(edges.sample, append=edges.total_samples)).tobytes()


@pytest.fixture
def fake_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in front of PATH whose `sigrok-cli` a test writes with `install`."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "sigrok-cli"


PRELUDE = """
import os, signal, sys, time
send = lambda data: os.write(1, data)
def all_of(data):
    rest = memoryview(data)
    while rest: rest = rest[send(rest):]
"""


def install(tool: Path, body: str) -> None:
    tool.write_text(f"#!{sys.executable}\n{PRELUDE}{body}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)


def analyzer(driver: str = "demo", channels: Sequence[str] = (), sample_bytes: int = 1) -> AnalyzerResource:
    named = dict(zip(CHANNELS, channels, strict=True)) if channels else {}
    resource = AnalyzerResource(driver=driver, samplerate_hz=1, sample_bytes=sample_bytes)
    return resource.model_copy(update={"channels": named})


def asking(samples: int) -> CaptureRequest:
    return CaptureRequest(analyzer(), None, 84_000_000, samples)


def test_device_channels_are_brought_into_our_order() -> None:
    names = ("D3", "D0", "D7", "D1", "D2", "D4", "D5", "D6")
    straight = capture(CaptureRequest(analyzer("demo", DEVICE_CHANNELS), None, 1_000_000, 2000))
    mapped = capture(CaptureRequest(analyzer("demo", names), None, 1_000_000, 2000))
    bits = np.unpackbits(
        np.frombuffer(expanded(straight.edges), np.uint8)[:, None], axis=1, bitorder="little"
    )
    expected = np.packbits(bits[:, [3, 0, 7, 1, 2, 4, 5, 6]], axis=1, bitorder="little")
    assert expanded(mapped.edges) == expected.tobytes()


@pytest.mark.parametrize(
    ("rate_hz", "samples", "channels", "words"),
    [
        (24_000_000, 10, (*DEVICE_CHANNELS[:7], "D8"), "one of D0"),
        (1, MOST_SAMPLES + 1, (), "more than the"),
    ],
)
def test_impossible_requests_are_refused(
    rate_hz: int, samples: int, channels: tuple[str, ...], words: str
) -> None:
    assert asking(MOST_SAMPLES)
    with pytest.raises(CaptureError, match=words):
        CaptureRequest(analyzer("fx2lafw", channels), None, rate_hz, samples)


@table
def test_a_tool_that_misbehaves_is_ended_and_told_of(
    fake_tool: Path, body: str, samples: int, problems: tuple[str, ...], oddities: tuple[str, ...]
) -> None:
    """Were one not ended, capture() would wait for it, and this test for ten minutes."""
    install(fake_tool, body)
    result = capture(asking(10), STALL_S if "sleep" in body else MANY_S)
    assert result.edges.total_samples == samples
    for sentences, expected in ((result.problems, problems), (result.oddities, oddities)):
        assert len(sentences) == len(expected), sentences
        assert all(words in sentence for words, sentence in zip(expected, sentences, strict=True)), sentences


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_of_wide_samples_the_first_byte_counts(fake_tool: Path, step: int) -> None:
    """Pieces of any length, so that a sample is cut between two."""
    install(
        fake_tool,
        "import itertools\n"
        "data = bytes(itertools.chain.from_iterable((i // 50, 255 - i % 256) for i in range(1000)))\n"
        f"for at in range(0, len(data), {step}): send(data[at:at + {step}])",
    )
    wide = CaptureRequest(analyzer("dreamsourcelab-dslogic", sample_bytes=2), None, 1_000_000, 1000)
    result = capture(wide)
    assert (result.problems, result.oddities) == ((), ())
    assert expanded(result.edges) == bytes(i // 50 for i in range(1000))


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_the_capture_and_keeps_the_samples(fake_tool: Path, tmp_path: Path) -> None:
    install(fake_tool, "send(bytes(5)); time.sleep(600)")
    with (
        pytest.raises(signals.Stopped),
        signals.orderly(),
        SigrokCapture(asking(10), tmp_path / EDGE_STREAM) as running,
    ):
        running.start()
        while running.got_samples < 5:
            pass
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        result = running.wait(MANY_S)
    assert result.interrupted
    assert result.edges.total_samples == 5
    assert result.problems == (
        "The capture is short: 5 of 10 samples arrived, 5 are missing; capture again.",
    )


def peak_bytes() -> int:
    match = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match
    return int(match[1]) << 10


BENCH = """
import sys
from pathlib import Path
from capture.acquisition.sigrok_cli import CaptureRequest, SigrokCapture
from capture.desk.bench import AnalyzerResource
analyzer = AnalyzerResource(driver="demo", samplerate_hz=1)
request = CaptureRequest(analyzer, None, 84_000_000, 9_000_000)
with SigrokCapture(request, Path(sys.argv[1])) as capture:
    capture.start()
    capture.wait(600)
"""


def test_a_bench_that_is_killed_leaves_all_blocks_and_no_tool(fake_tool: Path, tmp_path: Path) -> None:
    path, samples, tool = tmp_path / EDGE_STREAM, waveform(3_000_000), tmp_path / "pid"
    (tmp_path / "samples").write_bytes(samples)
    install(
        fake_tool,
        f"""
open({str(tool)!r}, 'w').write(str(os.getpid()))
all_of(open({str(tmp_path / "samples")!r}, 'rb').read())
time.sleep(600)""",
    )

    def stored() -> StreamedCapture:
        """What a copy of the file has, which nobody holds."""
        return read_stream(Path(shutil.copy(path, tmp_path / "copy")))

    bench = subprocess.Popen([sys.executable, "-c", BENCH, path])
    try:
        assert wait_until(path.exists)
        assert wait_until(lambda: path.stat().st_size > 0 and stored().edges.total_samples == len(samples))
        with pytest.raises(CaptureError, match="still being captured"):
            read_stream(path)
    finally:
        bench.kill()
        bench.wait()
    streamed = read_stream(path)
    assert streamed.asked_samples == 9_000_000
    assert expanded(streamed.edges) == samples
    assert wait_until(lambda: not Path(f"/proc/{tool.read_text()}").exists())


def test_a_floating_input_ends_the_capture(fake_tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capture.acquisition.sigrok_cli.MOST_EDGES", 100)
    install(fake_tool, "while True: send(b'\\0\\1' * 30000)")
    problems = capture(asking(10_000_000)).problems
    assert len(problems) == 2 and "floating" in problems[0] and "samples arrived" in problems[1]


def test_a_disk_that_fills_up_ends_the_capture_and_keeps_what_came(
    fake_tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capture.acquisition.sigrok_cli._BLOCK_ROWS", 1000)
    monkeypatch.setattr("base.run_folder.edge_stream.ROOM_BYTES", 1 << 60)
    install(fake_tool, "while True: send(b'\\0\\0\\0\\1' * 10000)")
    result = capture(asking(10_000_000))
    assert "bytes left, which storing the run may take" in result.problems[0]
    assert "samples arrived" in result.problems[1]
    assert 1000 <= result.edges.sample.size < 1_000_000
    assert result.edges.word[:3].tolist() == [0, 1, 0]


STORES = "The device stores at least 5 samples with the current settings."


def test_only_known_words_count_as_harmless() -> None:
    text = f"cli: {STORES}\n\n{STORES}\ncli: Device only sent 5 samples.\n"
    assert unexpected_lines(text, whole=False) == ["cli: Device only sent 5 samples."]
    other = "Device only sent 5 samples. And it smokes."
    assert unexpected_lines(text + other, whole=True) == [other]


def test_our_count_decides_whether_samples_are_missing(fake_tool: Path) -> None:
    """sigrok-cli counts wrongly beyond 2**32 samples; its words are then no fault."""
    said = "sys.stderr.write('cli: Device only sent 4 samples.\\n')"
    install(fake_tool, f"send(bytes(1000)); {said}")
    result = capture(asking(1000))
    assert (result.problems, result.oddities) == ((), ())
    short = capture(asking(1001))
    assert "1000 of 1001 samples arrived" in short.problems[0]
    assert short.oddities == ("sigrok-cli said: cli: Device only sent 4 samples.",)


HZ = 24_000_000
TAKEN = ("CRIT", "STIM", "ISR")
CRIT, STIM, ISR = 1, 4, 8
"""Their bits in what an analyzer with all channels in our order sends."""


def capture_windows(folder: Path, body: str, samples: int, keeping: Keeping | None) -> CaptureResult:
    folder.mkdir(exist_ok=True)
    install(folder / "sigrok-cli", body)
    tool = analyzer().model_copy(update={"sigrok": str(folder / "sigrok-cli")})
    taken = dict(zip(TAKEN, TAKEN, strict=True))
    request = CaptureRequest(tool, None, HZ, samples, taken, keeping)
    with SigrokCapture(request, folder / names.EDGE_STREAM) as running:
        running.start()
        return running.wait(MANY_S)


def test_many_open_files_are_no_obstacle(tmp_path: Path) -> None:
    """From descriptor 1024 on select(2) takes none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1024):
            stack.enter_context(Path(os.devnull).open())
        result = capture_windows(tmp_path / "many", "send(bytes(1000))", 1000, None)
    assert (result.problems, result.edges.total_samples) == ((), 1000)


BUSY = """
block = bytes([1, 0] * (1 << 19))
long = bytes([1] * 77)
for number in range({blocks}):
    all_of(block)
    if number == 2: all_of(long + bytes(1))
all_of(bytes({rest}))
"""


def test_more_edges_than_a_whole_capture_may_have_are_counted_in_flat_memory(tmp_path: Path) -> None:
    blocks, rest = 8, 1 << 20
    samples = (blocks << 20) + 78 + rest
    assert blocks << 20 > MOST_EDGES + (1 << 20)
    # From now on the kernel tells of the most memory since now (proc(5), clear_refs).
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_bytes()
    result = capture_windows(tmp_path, BUSY.format(blocks=blocks, rest=rest), samples, Keeping(2, 10))
    assert peak_bytes() - before < 96 << 20
    assert result.problems == () and result.kept is not None
    widths = result.kept.counted["width", "CRIT"]
    whole = (blocks << 19) - 1  # the first began before the capture
    assert widths.values.tolist() == [1, 77] and widths.counts.tolist() == [whole, 1]
    longest = result.kept.windows[0].place
    assert (longest.start, longest.end) == (3 << 20, (3 << 20) + 77)
    refused = capture_windows(tmp_path / "all", BUSY.format(blocks=blocks, rest=rest), samples, None)
    assert f"More than {MOST_EDGES} edges" in refused.problems[0]


def test_a_tool_that_counts_in_32_bits_and_never_ends_is_ended_without_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sigrok_cli, "MOST_COUNTED", 1000)
    body = "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: all_of(bytes([1, 0]) * 500)"
    for keeping in (None, Keeping(1, 5)):
        result = capture_windows(tmp_path / str(keeping), body, 100_000, keeping)
        assert (result.problems, result.oddities, result.interrupted) == ((), (), False)
        total = result.kept.total_samples if result.kept else result.edges.total_samples
        assert total == 100_000


def test_what_is_kept_goes_to_the_disk_while_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "EVERY_S", 0.01)
    kept = Keeper(tmp_path, HZ, ("CRIT",), 1000, Keeping(1, 4))
    kept.append(np.array([0, 10, 30]), np.array([0, 1, 0], np.uint8), 100)
    while not (tmp_path / names.KEPT).exists() or read_kept(tmp_path).total_samples < 100:
        time.sleep(0.01)
    kept.close()
    assert read_kept(tmp_path).windows[0].place.start == 10
    assert {path.name for path in tmp_path.iterdir()} == {names.KEPT}
