"""Analyzers whose limits are known: tables of analyzers.toml, or a TOML file of the user's own."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from pydantic import Field, model_validator

from base.files.complaints import WrongValueError
from base.files.documents import Table, Texts, open_toml
from base.files.errors import CaptureError
from base.run_folder.channels import CHANNELS

_FILE = Path(__file__).with_name("analyzers.toml")


class Preset(Table):
    """An analyzer."""

    title: str
    """The analyzer's name for people."""
    sources: Texts
    """Where each fact is from."""
    driver: str = ""
    """A driver of libsigrok."""
    settings: Texts = ()
    """What sigrok-cli is told behind the samplerate."""
    inputs: Texts = ()
    """The analyzer's own names of the eight inputs that can be used, by their bit."""
    sample_bytes: int = 1
    """Bytes of a sample from libsigrok, of which the first holds the eight inputs."""
    rates_hz: list[int] = Field(default_factory=list)
    """The samplerates with eight inputs, from 1 MS/s on."""
    divides_hz: int = 0
    """Instead: the samplerates are this divided by a whole number."""
    least_hz: int = 0
    """Down to this."""
    most_samples: int = 0
    """Samples that its memory holds; more are refused. 0: not known, or it streams."""
    limit: str = ""
    """What else there is to know."""
    devices: Texts = ()
    """Its USB ids VID:PID."""
    refused: str = ""
    """Why the bench cannot capture with it; then the keys for a capture may be left out."""

    @model_validator(mode="after")
    def _is_whole(self) -> Preset:
        """What can capture has a driver, an input for each channel, and its rates."""
        if self.refused:
            return self
        if not self.driver or len(self.inputs) != len(CHANNELS):
            raise WrongValueError(f"needs a driver and {len(CHANNELS)} inputs")
        if not self.rates_hz and not (self.divides_hz and self.least_hz):
            raise WrongValueError("needs its samplerates")
        return self

    @property
    def fastest_hz(self) -> int:
        """The highest samplerate with eight inputs."""
        return max(self.rates_hz, default=self.divides_hz)

    def can_sample_at(self, rate_hz: int) -> bool:
        """Whether this is one of its samplerates."""
        if self.rates_hz:
            return rate_hz in self.rates_hz
        return self.least_hz <= rate_hz <= self.divides_hz and self.divides_hz % rate_hz == 0

    def rates_in_words(self) -> str:
        """Its samplerates, for a sentence."""
        if self.rates_hz:
            return f"{', '.join(map(_millions, self.rates_hz))} MS/s"
        top, least = _millions(self.divides_hz), _millions(self.least_hz)
        return f"{top} MS/s or what divides it by a whole number, down to {least} MS/s"


def _millions(rate_hz: int) -> str:
    return f"{rate_hz / 1e6:g}"


@cache
def presets() -> dict[str, Preset]:
    """The presets that come with the bench, by their names, sorted."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: Preset.model_validate(table) for name, table in tables.items()}


def preset(name: str) -> Preset | None:
    """The preset of this name, or of this path, which ends in .toml; None where there is none.

    Raises CaptureError where the file of a path cannot be read.
    """
    return (
        open_toml(Path(name), CaptureError).check(Preset) if name.endswith(".toml") else presets().get(name)
    )
