"""Programs that are recorded, against what they do."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from scenarios import trace as scenarios_trace
from scenarios.errors import RecordingError
from scenarios.recording.record import Recorded, record, sentences

STRICT = ("-std=gnu11", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-use-after-free", "-pthread")
HEAD = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
"""
CALLS = """
int main(void) {
    void *first = malloc(10001), *second = calloc(3, 10002), *third = NULL;
    first = realloc(first, 20001);
    if (posix_memalign(&third, 64, 10003)) { return 1; }
    if (malloc((size_t)-1 / 2) != NULL) { return 2; }
    free(second);
    free(third);
    free(first);
    return 3;
}
"""


def compiled(folder: Path, body: str, compiler: str = "gcc", *flags: str) -> str:
    source = folder / ("own.c" if compiler == "gcc" else "own.cc")
    source.write_text(body)
    subprocess.run([compiler, *flags, source, "-o", folder / "own", "-pthread"], check=True)
    return str(folder / "own")


def recorded(folder: Path, *command: str) -> tuple[Recorded, list[str]]:
    """With the operations on blocks of 10,000 bytes and more, renumbered from 1."""
    recording = record(command, folder / "trace.csv")
    scenarios_trace.read(recording.path)
    own: dict[str, int] = {}
    lines = []
    for line in recording.path.read_text().splitlines()[1:]:
        kind, number, *size = line.split(",")
        if kind == "a" and int(size[0]) >= 10_000:
            own[number] = len(own) + 1
        if number in own:
            lines.append(",".join([kind, str(own[number]), *size]))
    return recording, lines


def test_a_trace_is_what_the_program_does(tmp_path: Path) -> None:
    recording, lines = recorded(tmp_path, compiled(tmp_path, HEAD + CALLS, "gcc", *STRICT))
    assert lines == ["a,1,10001", "a,2,30006", "r,1,20001", "a,3,10003", "f,2", "f,3", "f,1"]
    assert (recording.exit_status, recording.program, recording.others) == (3, "own", 0)
    assert recording.trace.refused == 1
    assert next(sentences(recording)).endswith("operations of own.")


def test_what_a_killed_process_did_is_there_but_for_the_last(tmp_path: Path) -> None:
    body = "int main(void) { for (int n = 0; n < 1000; n++) { free(malloc(10001)); } raise(SIGKILL); }"
    recording, lines = recorded(tmp_path, compiled(tmp_path, HEAD + body, "gcc", *STRICT))
    assert recording.exit_status == 128 + signal.SIGKILL
    assert 2000 - 16 <= len(lines) <= 2000 and lines[:2] == ["a,1,10001", "f,1"]


FORKS = """
int main(void) {
    free(malloc(10001));
    if (fork() == 0) {
        for (int n = 0; n < 9; n++) { free(malloc(10002)); }
        exit(0);
    }
    free(malloc(10003));
    wait(NULL); /* a recording ends with the command, whoever outlives it */
}
"""


def test_a_fork_begins_a_trace_of_its_own(tmp_path: Path) -> None:
    recording, lines = recorded(tmp_path, compiled(tmp_path, HEAD + FORKS, "gcc", *STRICT))
    assert lines == [line for n in range(1, 10) for line in (f"a,{n},10002", f"f,{n}")]
    assert recording.others == 1


THREADS = """
static void *churn(void *seed) {
    unsigned state = (unsigned)(size_t)seed;
    for (int n = 0; n < 2000; n++) { free(malloc(10001 + rand_r(&state) % 1000)); }
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    for (size_t n = 0; n < 4; n++) { pthread_create(&threads[n], NULL, churn, (void *)n); }
    for (size_t n = 0; n < 4; n++) { pthread_join(threads[n], NULL); }
}
"""


def test_threads_have_an_order_that_could_have_been(tmp_path: Path) -> None:
    """The reader refuses a free before its allocation. And nothing is missing."""
    _, lines = recorded(tmp_path, compiled(tmp_path, HEAD + THREADS, "gcc", *STRICT))
    assert (sum(line[0] == "a" for line in lines), sum(line[0] == "f" for line in lines)) == (8000, 8000)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler for C++")
def test_new_and_delete(tmp_path: Path) -> None:
    body = "#include <vector>\nint main() { std::vector<char> own(54321); return own[0]; }\n"
    assert recorded(tmp_path, compiled(tmp_path, body, "g++"))[1] == ["a,1,54321", "f,1"]


def test_a_command_that_cannot_be_recorded_is_told(tmp_path: Path) -> None:
    static = compiled(tmp_path, "int main(void) { return 0; }", "gcc", "-static")
    for command in (static, "no_such_command"):
        with pytest.raises(RecordingError):
            record([command], tmp_path / "trace.csv")


def test_the_commands_words_and_status_are_its_own(tmp_path: Path) -> None:
    output = tmp_path / "trace.csv"
    words = ("--output", str(output), "--", "sh", "-c", 'echo "$1"; exit 7', "sh", "--a  b")
    command = [sys.executable, "-m", "cli", "heap", "record", *words]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert (done.stdout, done.returncode) == ("--a  b\n", 7), done.stderr
    assert f"{output}: " in done.stderr and "operations of" in done.stderr
