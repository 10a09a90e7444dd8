"""Which wheel a checkout takes: one of the same sources, and nothing that is none."""

from __future__ import annotations

import platform
import zipfile
from pathlib import Path

import pytest

from base import at_hand
from base.at_hand import AtHandError
from base.files.tests.sentences import is_sentence

ROOMS = ("simulator", "firmware")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name in ("simulator/src/main.rs", "simulator/target/made", "firmware/heap/heap.c", "firmware/.made"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def digests(root: Path) -> dict[str, str]:
    at_hand.digest.cache_clear()
    return {room: at_hand.digest(room, root) for room in ROOMS}


def test_a_digest_is_of_what_is_written_and_not_of_what_is_made(sources: Path) -> None:
    before = digests(sources)
    (sources / "simulator/target/made").write_text("other")
    (sources / "firmware/.made").unlink()
    assert digests(sources) == before
    (sources / "firmware/heap/heap.c").rename(sources / "firmware/heap/other.c")
    assert digests(sources)["firmware"] != before["firmware"]
    assert digests(sources)["simulator"] == before["simulator"]
    (sources / "simulator/src/main.rs").write_text("other")
    assert digests(sources)["simulator"] != before["simulator"]


def wheel(path: Path, text: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"tailscope/_program/{at_hand.NOTE}", text)
    return path


def test_a_wheel_of_the_same_sources_is_found_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"tailscope-1-py3-none-linux_{platform.machine()}.whl"
    monkeypatch.setenv(at_hand.VARIABLE, str(wheel(tmp_path / name, at_hand.note())))
    assert at_hand.everything()
    wheel(tmp_path / name, at_hand.note().replace("firmware ", "firmware 0"))
    assert not at_hand.everything()
    at_hand.brought.cache_clear()
    assert at_hand.brought("firmware") is None
    said = "What TAILSCOPE_WHEEL names was made of another firmware/: this one is compiled.\n"
    assert capsys.readouterr().err == said
    at_hand.brought.cache_clear()
    monkeypatch.setenv(at_hand.VARIABLE, at_hand.NONE)
    assert not at_hand.everything()


def test_an_installed_package_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tailscope" / "_program"
    program.mkdir(parents=True)
    (program / at_hand.NOTE).write_text(at_hand.note())
    for named in (tmp_path, tmp_path / "tailscope"):
        monkeypatch.setenv(at_hand.VARIABLE, str(named))
        assert at_hand.everything()


@pytest.mark.parametrize("content", [None, b"", b"PK no archive", "no digest\nat all of it"])
def test_what_is_no_wheel_gets_one_sentence(
    content: bytes | str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"tailscope-1-py3-none-linux_{platform.machine()}.whl"
    if isinstance(content, str):
        wheel(path, content)
    elif content is not None:
        path.write_bytes(content)
    monkeypatch.setenv(at_hand.VARIABLE, str(path))
    with pytest.raises(AtHandError) as refusal:
        at_hand.everything()
    assert is_sentence(
        str(refusal.value),
        f"TAILSCOPE_WHEEL names {path}, which is no wheel of the bench and no folder of an installed one: "
        "name another, or say TAILSCOPE_WHEEL=no.",
    )


def test_a_wheel_for_another_machine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(tmp_path / "tailscope-1-py3-none-linux_vax.whl", at_hand.note())
    monkeypatch.setenv(at_hand.VARIABLE, str(path))
    with pytest.raises(AtHandError, match=r"vax\.whl, which is not for"):
        at_hand.everything()
