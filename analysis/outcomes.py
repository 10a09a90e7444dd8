"""What a command that tries the bench itself found, as a file that another command takes along.

The document says of which sources it is. So nobody takes along what was found with others.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from base import source_digest
from base.files.documents import Table, open_json
from base.files.errors import TailscopeError
from base.paths import ROOT

SCHEMA = 1
_ROOMS = ("base", "scenarios", "capture", "analysis", "quality")
_SOURCES = (".py", ".toml")


class Outcome(Table):
    """What stands in each such document; the rest of it is the command's own.

    `says` is the outcome in a sentence, and `sound` whether nothing was found wrong.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    schema_: Annotated[Literal[1], Field(alias="schema")]
    of: Annotated[str, Field(pattern="^[a-z]{1,32}$")]
    sources: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    sound: bool
    says: Annotated[str, Field(min_length=1, max_length=1000)]


def heading(of: str, sound: bool, says: str) -> dict[str, Any]:
    """What a command puts first into its document."""
    return {"schema": SCHEMA, "of": of, "sources": sources(), "sound": sound, "says": says}


def read(path: Path, error: type[TailscopeError]) -> Outcome:
    """The outcome in a file, if it is one of these sources. Raises `error`."""
    document = open_json(path, error, remedy="name what ./lab dev soundness --json printed")
    outcome = document.check(Outcome)
    if outcome.sources != sources():
        raise error(
            f"{path}: it was made with other sources of the bench than these; run ./lab dev {outcome.of} "
            "--json again."
        )
    return outcome


@cache
def sources() -> str:
    """The digest of the simulator's sources, and of what judges: SHA-256, in hexadecimal.

    An installed package has the same as the checkout that it was made of.
    """
    files = [
        path
        for room in _ROOMS
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in _SOURCES and "tests" not in path.relative_to(ROOT).parts and path.is_file()
    ]
    both = f"{source_digest.digest_of(files, ROOT)} {source_digest.simulator()}"
    return hashlib.sha256(both.encode()).hexdigest()
