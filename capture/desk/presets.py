"""Analyzers whose limits are known: analyzers.toml, beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import Field, model_validator

from base.files.complaints import WrongValueError
from base.files.documents import Table, open_toml
from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS

_FILE = Path(__file__).with_name("analyzers.toml")


class Preset(Table):
    """An analyzer; analyzers.toml says what each field is."""

    title: str
    sources: list[str]
    driver: str = ""
    settings: list[str] = Field(default_factory=list)
    inputs: list[str] = Field(default_factory=list)
    sample_bytes: int = 1
    rates_hz: list[int] = Field(default_factory=list)
    divides_hz: int = 0
    least_hz: int = 0
    limit: str = ""
    devices: dict[str, str] = Field(default_factory=dict)
    loaded: list[str] = Field(default_factory=list)
    refused: str = ""

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


def of_driver(driver: str) -> Preset | None:
    """The preset whose analyzers this driver of libsigrok serves; None if there is none."""
    return next((preset for preset in presets().values() if preset.driver == driver), None)


@cache
def presets() -> dict[str, Preset]:
    """All presets by name, in the order of the file."""
    found = open_toml(_FILE, CaptureError)
    return {name: found.check(Preset, name) for name in found.values}
