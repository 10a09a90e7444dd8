"""Two run folders that differ are sent as one archive; one that was tampered with is refused."""

from __future__ import annotations

import stat
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest

from analysis.campaign import work as verification


def archive_of(name: str, kind: int = stat.S_IFREG) -> bytes:
    """An archive with a good member, and behind it one of this name and kind."""
    member = ZipInfo(name)
    member.external_attr = (kind | 0o644) << 16
    held = BytesIO()
    with ZipFile(held, "w") as archive:
        archive.writestr("sigrok/run.json", "{}")
        archive.writestr(member, "/etc/passwd")
    return held.getvalue()


def test_both_folders_come_out_as_they_went_in(tmp_path: Path) -> None:
    real, direct = tmp_path / "real", tmp_path / "direct"
    for folder in (real, direct):
        (folder / "explain").mkdir(parents=True)
        (folder / "run.json").write_text(folder.name)
        (folder / "explain" / "allocate.json").write_text("{}")
    verification.unpack(verification.packed(real, direct), tmp_path / "out")
    for name, folder in ((verification.SIGROK, real), (verification.DIRECT, direct)):
        assert (tmp_path / "out" / name / "run.json").read_text() == folder.name
        assert (tmp_path / "out" / name / "explain" / "allocate.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/etc/cron.d/job", stat.S_IFREG),
        ("../beside", stat.S_IFREG),
        ("sigrok/../../beside", stat.S_IFREG),
        ("sigrok\\..\\..\\beside", stat.S_IFREG),
        ("sigrok/link", stat.S_IFLNK),
        ("sigrok/device", stat.S_IFCHR),
        ("sigrok/disk", stat.S_IFBLK),
        ("sigrok/pipe", stat.S_IFIFO),
    ],
)
def test_a_hostile_archive_is_refused_as_a_whole(tmp_path: Path, name: str, kind: int) -> None:
    folder = tmp_path / "in" / "out"
    with pytest.raises(OSError, match="not a run's"):
        verification.unpack(archive_of(name, kind), folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "out"]


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="damaged"):
        verification.unpack(archive_of("sigrok/log")[:40], tmp_path)
