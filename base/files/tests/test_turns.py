import subprocess
import sys
from pathlib import Path

from base.files.turns import lock_of, taking_turns
from base.paths import ROOT

HOLDER = """
import sys, time
from pathlib import Path
from base.files.turns import taking_turns
with taking_turns(Path(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(60)
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """Another process whose turn it is, for a minute."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    return process


def is_taken(folder: Path) -> bool:
    """As flock(1) sees it."""
    return subprocess.run(["flock", "--nonblock", lock_of(folder), "true"]).returncode != 0


def test_a_turn_is_one_processs_and_ends_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "not-yet-there" / "build"
    with holder(folder) as other:
        assert is_taken(folder)
        assert not is_taken(folder.with_name("another"))
        other.kill()
    with taking_turns(folder):
        assert is_taken(folder)
    assert not is_taken(folder)
