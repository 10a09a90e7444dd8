"""Programs that are recorded, against what they themselves say that they did."""

from __future__ import annotations

import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.paths import ROOT
from scenarios import trace
from scenarios import trace as scenarios_trace
from scenarios.recording.record import MAGIC, Conversion, Recorded, open_file, record, sentences

STRICT = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")


def compiled(folder: Path, *flags: str, source: str = "known.c", compiler: str = "gcc") -> str:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = folder / "known"
    sources = str(Path(__file__).parent / source)
    subprocess.run([compiler, *flags, sources, "-o", str(program), "-pthread"], check=True)
    return str(program)


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(tmp_path_factory.mktemp("known"), *STRICT)


def lines(path: Path) -> list[str]:
    """The operations of a trace, which the bench must be able to read."""
    scenarios_trace.read(path)
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def recorded(folder: Path, *command: str) -> tuple[Recorded, list[str]]:
    recording = record(command, folder / "trace.csv")
    return recording, lines(folder / "trace.csv")


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("calls", 0),
        ("refusals", 0),
        ("spawns", 0),
        ("killed", 128 + signal.SIGKILL),
        ("closes", 0),
        ("handles", 0),
        ("ends", 3),
    ],
)
def test_a_trace_is_what_the_program_says(
    shim: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], what: str, status: int
) -> None:
    recording, trace = recorded(tmp_path, shim, what)
    assert trace == capfd.readouterr().out.splitlines() != []
    assert recording.exit_status == status
    assert recording.written.account.operations == len(trace)
    assert recording.written.account.left_out == recording.written.account.unseen_frees == 0


def test_blocks_that_go_from_thread_to_thread(
    shim: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever the order of the threads was, no block is freed or moved before its allocation:
    the reader refuses that. And nothing is missing."""
    recording, trace = recorded(tmp_path, shim, "threads")
    allocations, size, moves, frees = map(int, capfd.readouterr().out.split(","))
    fields = [line.split(",") for line in trace]
    own = {number: int(bytes_) for kind, number, *(bytes_, *_) in ((*f, "0") for f in fields) if kind == "a"}
    own = {number: bytes_ for number, bytes_ in own.items() if bytes_ >= 100_000}
    assert (len(own), sum(own.values())) == (allocations, size) == (32_000, size)
    assert sum(f[0] == "r" for f in fields) == moves > 4_000
    assert sum(f[0] == "f" and f[1] in own for f in fields) == frees > 31_000
    assert recording.written.account.unseen_frees == recording.written.account.left_out == 0


@pytest.mark.parametrize("raw", [False, True])
def test_a_fork_begins_a_trace_of_its_own(
    shim: str, tmp_path: Path, raw: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if raw:
        monkeypatch.setenv("RAW_FORK", "1")
    recording, trace = recorded(tmp_path, shim, "forks")
    assert trace == ["a,1,444", "a,2,555", "f,2"], "the child's"
    assert recording.written.account.left_out == 1, "the free of a block of its parent"
    assert [process.recorded for process in recording.others] == [4]
    assert any("Other processes" in sentence for sentence in sentences(recording))


def test_new_and_delete(tmp_path: Path) -> None:
    source = tmp_path / "new.cc"
    source.write_text(
        "#include <vector>\nstruct alignas(128) wide { char text[128]; };\n"
        "int main() { auto *one = new int[2500]; auto *two = new wide; delete[] one; delete two;"
        " std::vector<char> three(54321); return three[0]; }\n"
    )
    _, trace = recorded(tmp_path, compiled(tmp_path, "-O0", source=str(source), compiler="g++"))
    ids = {line.split(",", 2)[2]: line.split(",")[1] for line in trace if line.startswith("a")}
    first, wide, third = ids["10000"], ids["128,128"], ids["54321"]
    own = [line for line in trace if line.split(",")[1] in (first, wide, third)]
    assert own == [
        *(f"a,{first},10000", f"a,{wide},128,128", f"f,{first}", f"f,{wide}"),
        *(f"a,{third},54321", f"f,{third}"),
    ]


def test_python_calls_malloc_for_small_blocks_only_where_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 live objects of 33 + 100 bytes, as sys.getsizeof() has them, are Python's own
    allocator's unless PYTHONMALLOC says otherwise."""
    blocks: dict[str, int] = {}
    for own in ("pymalloc", "malloc"):
        monkeypatch.setenv("PYTHONMALLOC", own)
        script = "x = [bytes(100) for _ in range(2000)]"
        _, trace = recorded(tmp_path, sys.executable, "-S", "-c", script)
        blocks[own] = sum(line.startswith("a") and line.endswith(",133") for line in trace)
    assert blocks["malloc"] >= 2_000 > 1_000 > blocks["pymalloc"]


def lab(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cli", "heap", "record", *words]
    return subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def test_the_commands_words_and_status_are_its_own(tmp_path: Path) -> None:
    output = tmp_path / "trace.csv"
    done = lab("--output", str(output), "--", "sh", "-c", 'echo "$1"; exit 7', "sh", "--a  b")
    said, complaint = done.communicate(timeout=300)
    assert (said, done.returncode) == ("--a  b\n", 7), complaint
    assert f"{output}: " in complaint and "operations of" in complaint


# Files of the recorder that a program has written into: nothing in them is trusted.


NOTHING, ALLOCATED, FREEING, MOVING, MOVED = range(5)


def written(folder: Path, *records: tuple[int, ...], claimed: int | None = None, room: int = 64) -> Path:
    """`records` are (kind, block, size, origin, alignment_log2), from the left as many as count."""
    head = struct.pack("<QQQII", MAGIC, room, len(records) if claimed is None else claimed, 7, 1)
    content = bytearray(4096 + 24 * room)
    content[: len(head)] = head
    content[len(head) : len(head) + 13] = b"/usr/bin/true"
    for number, fields in enumerate(records):
        kind, block, size, origin, log2 = (*fields, 0, 0, 0, 0)[:5]
        struct.pack_into("<QQIB2xB", content, 4096 + 24 * number, block, size, origin, log2, kind)
    path = folder / "1"
    path.write_bytes(content)
    return path


def converted(path: Path) -> tuple[list[str], Conversion]:
    file = open_file(path)
    assert file is not None
    conversion = Conversion(file)
    return list(conversion.lines()), conversion


def test_a_block_keeps_its_number_while_its_old_place_is_anothers(tmp_path: Path) -> None:
    """A thread moves block 1, and before it is back another has got the place that it left."""
    records = ((ALLOCATED, 64, 10), (MOVING, 64, 99), (ALLOCATED, 64, 20), (MOVED, 128, 99, 1))
    lines, _ = converted(written(tmp_path, *records, (FREEING, 64), (FREEING, 128)))
    assert lines == ["a,1,10", "a,2,20", "r,1,99", "f,2", "f,1"]


@given(st.binary(min_size=24, max_size=24 * 30), st.booleans())
def test_whatever_the_records_are_the_trace_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, tame: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    room = len(noise) // 24
    path = written(folder, claimed=2**63, room=room)
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 24 * room] = noise[: 24 * room]
    if tame:  # few addresses and kinds, so that they meet
        records = np.frombuffer(content, dtype=np.uint8, offset=4096).reshape(room, 24)
        records[:, 1:8] = records[:, 12:16] = 0
        records[:, (0, 16, 23)] %= 5
        records[:, 17:20] = 0
    path.write_bytes(content)
    lines, conversion = converted(path)
    assert conversion.account.operations == len(lines)
    (folder / "trace.csv").write_text("# from noise\na,x,8\n" + "".join(f"{line}\n" for line in lines))
    assert len(trace.read(folder / "trace.csv").operations) == 1 + len(lines)
