"""The compiler's own words in an image."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from firmware.build import cmake_build
from firmware.build import image as build


def test_the_image_tells_the_version_that_the_compiler_prints() -> None:
    said = subprocess.run(
        ["arm-none-eabi-gcc", "-dumpfullversion"], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() in cmake_build.of_image(build.build("tlsf").elf)


@pytest.mark.parametrize("content", [b"", b"no ELF file"])
def test_what_is_no_elf_file_gets_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "image.elf"
    path.write_bytes(content)
    with pytest.raises(cmake_build.CompilerError, match="could not be read"):
        cmake_build.of_image(path)
