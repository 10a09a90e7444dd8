"""A program that stands in for a loader's tool: it notes what it is asked, and says its part."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.constants import P_FLAGS

PLAY = """\
import json, os, pathlib, shutil, sys, time
folder = pathlib.Path({folder!r})
calls = folder / "calls"
number = len(list(calls.iterdir()))
kept = calls / str(number)
kept.mkdir()
for name in os.listdir():
    shutil.copy(name, kept)
(kept / "arguments.json").write_text(json.dumps(sys.argv[1:]))
scenes = json.loads((folder / "scenes.json").read_text())
scene = scenes[min(number, len(scenes) - 1)]
for name, content in scene.get("files", {{}}).items():
    pathlib.Path(name).write_bytes(bytes.fromhex(content))
print(scene.get("says", ""), file=sys.stderr if scene.get("aloud") else sys.stdout)
time.sleep(scene.get("sleeps", 0))
sys.exit(scene.get("status", 0))
"""


@dataclass(frozen=True)
class StandIn:
    """A tool on the PATH; `says` sets what each of its calls does, the last one all that follow."""

    folder: Path

    @staticmethod
    def on_path(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> StandIn:
        """Puts it first on the PATH. It keeps the files of the folder that it runs in."""
        programs = folder / "bin"
        programs.mkdir()
        (folder / "calls").mkdir()
        script = programs / name
        script.write_text(f"#!{sys.executable}\n" + PLAY.format(folder=str(folder)))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(programs), prepend=":")
        tool = StandIn(folder)
        tool.says("")
        return tool

    def says(self, *scenes: str | dict[str, object]) -> None:
        """What each call says; a table may have `status`, `sleeps`, `aloud` and `files` too."""
        scene_list = [{"says": scene} if isinstance(scene, str) else scene for scene in scenes]
        (self.folder / "scenes.json").write_text(json.dumps(scene_list))

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call so far."""
        count = len(list((self.folder / "calls").iterdir()))
        return [json.loads((self.kept(n) / "arguments.json").read_text()) for n in range(count)]

    def kept(self, call: int) -> Path:
        """The files that it ran beside."""
        return self.folder / "calls" / str(call)


def elf(folder: Path, *segments: tuple[int, bytes]) -> Path:
    """A 32-bit ARM ELF file with these segments and nothing else (System V ABI, figure 2-1)."""
    header, entry = 52, 32
    offset = header + entry * len(segments)
    table, contents = b"", b""
    for address, content in segments:
        words = (1, offset + len(contents), address, address, len(content), len(content), P_FLAGS.PF_R, 4)
        table += b"".join(word.to_bytes(4, "little") for word in words)
        contents += content
    start = b"\x7fELF\x01\x01\x01".ljust(16, b"\0") + (2).to_bytes(2, "little") + (40).to_bytes(2, "little")
    start += b"".join(word.to_bytes(4, "little") for word in (1, 0x0800_0000, header, 0, 0x0500_0400))
    start += b"".join(half.to_bytes(2, "little") for half in (header, entry, len(segments), 40, 0, 0))
    file = folder / "my firmware {1}.elf"
    file.write_bytes(start + table + contents)
    return file
