"""Holds direct runs to the real tools: which of a campaign are made both ways, and what differs."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path, PurePosixPath
from stat import S_IFMT, S_ISDIR, S_ISREG
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from analysis.campaign.order import ShippedImage
from base.files.errors import TailscopeError
from base.run_folder import folder as names
from base.run_folder.manifest import read_manifest
from capture import same

SIGROK, DIRECT = "sigrok", "direct"
"""The folders of the two runs that differ."""


class Sample:
    """Which runs are made both ways: the first of each image at each samplerate, and a share.

    Matrix and keys decide alone, so that the choice is the same after each loss. The first of an
    image takes about as long as its build, and a fault of all runs shows before many are made.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._met: set[tuple[str, int]] = set()

    def takes(self, key: str, image: ShippedImage, samplerate_hz: int) -> bool:
        """To be asked of each run, in the order of the matrix."""
        if not self._share:
            return False
        what = (image.digest, samplerate_hz)
        is_first = what not in self._met
        self._met.add(what)
        return is_first or int(key, 16) < self._share * 2.0**256


def difference(real: Path, direct: Path) -> str | None:
    """Where two run folders differ, in a sentence; None if nowhere.

    Raises TailscopeError where the real tools lost something: that is no fault of the direct run.
    """
    lost = read_manifest(real / names.MANIFEST).tool_report.losses
    if lost and not read_manifest(direct / names.MANIFEST).tool_report.losses:
        raise TailscopeError(f"It could not be verified, since the real tools lost samples: {lost[0]}")
    found = same.first_difference(real, direct)
    return None if found is None else f"The direct capture is not what the real tools bring: {found}"


def packed(real: Path, direct: Path) -> bytes:
    """Both folders as one archive, to be sent. Raises OSError."""
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, folder in ((SIGROK, real), (DIRECT, direct)):
            for path in sorted(folder.rglob("*")):
                archive.write(path, Path(name, path.relative_to(folder)))
    return held.getvalue()


def unpack(archive: bytes, folder: Path) -> None:
    """Writes what packed() made into `folder`. The archive comes over the network: it is refused as
    a whole where a member is no plain file or folder, or would lie outside `folder`.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with ZipFile(BytesIO(archive)) as held:
            for member in held.infolist():
                if not _stays_within(member):
                    raise OSError(f"the archive has a member that is not a run's: {member.filename!r}")
            held.extractall(folder)
    except BadZipFile as error:
        raise OSError(f"the archive is damaged: {error}") from None


def _stays_within(member: ZipInfo) -> bool:
    """Whether it is a plain file or folder, by a path that goes down only."""
    path = PurePosixPath(member.filename)
    mode = member.external_attr >> 16
    plain = not S_IFMT(mode) or S_ISREG(mode) or S_ISDIR(mode)
    return plain and not path.is_absolute() and ".." not in path.parts and "\\" not in member.filename
