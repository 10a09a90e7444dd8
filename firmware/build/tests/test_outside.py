"""Allocators from outside the repository: what they are taken for, and what is refused."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from base.paths import ROOT
from firmware.build import catalogue, host_heap, outside
from firmware.build.outside_file import OutsideError
from firmware.build.promises import PROMISES
from firmware.build.tests.outside import forgotten  # noqa: F401 (it works by being here)
from tests.tables import table

EXAMPLE = ROOT / "docs" / "examples" / "my_heap.c"
HEAP = ROOT / "firmware" / "heap"
needs_tools = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None or shutil.which("gcc") is None, reason="needs both compilers"
)
pytestmark = needs_tools

BUMP = """#include "plain.h"
static char *next, *end;
static void plain_init(void *region, size_t bytes) { next = region; end = next + bytes; }
static void *plain_allocate(size_t size) {
    size = (size + 7u) & ~(size_t)7u;
    if ((size_t)(end - next) < size) return NULL;
    next += size;
    return next - size;
}
static void plain_free(void *payload) { (void)payload; }
"""
# As a project's own: an array of its own, no reset, no header, and a free that only counts.
KERNEL_HEAP = """#include "FreeRTOS.h"
#include "task.h"
static uint8_t ucHeap[ configTOTAL_HEAP_SIZE ];
static size_t used;
void *pvPortMalloc( size_t wanted ) {
    void *block = NULL;
    vTaskSuspendAll();
    wanted = ( wanted + 7u ) & ~( size_t ) 7u;
    if( wanted <= configTOTAL_HEAP_SIZE - used ) { block = ucHeap + used; used += wanted; }
    ( void ) xTaskResumeAll();
    return block;
}
void vPortFree( void *pv ) { ( void ) pv; }
size_t xPortGetFreeHeapSize( void ) { return configTOTAL_HEAP_SIZE - used; }
"""


# The same with the header of FreeRTOS's blocks before each, and one that is free behind them.
TILED = """#include "FreeRTOS.h"
#include "task.h"
typedef struct link { struct link *next; size_t size; } link;
static uint8_t ucHeap[ configTOTAL_HEAP_SIZE ];
static link *rest;
static size_t left = configTOTAL_HEAP_SIZE - 8;
void *pvPortMalloc( size_t wanted ) {
    if( rest == NULL ) { rest = ( link * ) ucHeap; rest->size = left; }
    wanted = ( ( wanted + 7u ) & ~( size_t ) 7u ) + 8u;
    if( wanted == 8 || wanted + 16 > rest->size ) { return NULL; }
    link *block = rest;
    rest = ( link * ) ( ( uint8_t * ) block + wanted );
    rest->size = block->size - wanted;
    block->size = wanted | 0x80000000u;
    left -= wanted;
    return block + 1;
}
void vPortFree( void *pv ) { ( void ) pv; }
size_t xPortGetFreeHeapSize( void ) { return left; }
"""


def written(folder: Path, text: str, name: str = "mine.c", table: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    if table:
        (folder / name).with_suffix(".toml").write_text(table)
    return folder / name


def test_an_index_of_ours_is_an_index_from_outside(tmp_path: Path) -> None:
    file = tmp_path / "mine.c"
    shutil.copy(HEAP / "indexes" / "first_fit.c", file)
    row = outside.read(file)
    assert (row.id, row.kind) == ("mine", "index")
    assert row.source is not None
    assert row.source.format == "index.h"
    assert row.source.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert row.promises == catalogue.own()["first_fit"].promises


def test_a_heap_of_the_kernel_begins_anew_without_a_reset_of_its_own(tmp_path: Path) -> None:
    """Two regions of the search for the smallest heap: the second finds the heap as it was."""
    (name,) = outside.admit([str(written(tmp_path, KERNEL_HEAP))])
    operations = np.array([[1, 0, 48, 0], [1, 1, 48, 0]], dtype="uint32")
    program = host_heap.build(name, 65_536)
    file = host_heap.write(operations, tmp_path / "operations")
    assert host_heap.serve(program, file, 80, 104, stop=False) == [False, False, True, True]
    assert host_heap.run(program, file, 96).begin.tolist() == [0, 48]


def test_a_heap_that_is_no_tiling_is_not_read_as_one(tmp_path: Path) -> None:
    """Its blocks have no header. The kernel's own heap_4 has: firmware/heap/README.md."""
    row = outside.read(written(tmp_path, KERNEL_HEAP))
    assert row.promises == {"frees"}
    tiled = outside.read(written(tmp_path, TILED))
    assert row.promises < tiled.promises == {"frees", "aligns", "checks_heap", "tells_usable"}


def test_a_build_follows_every_byte_that_it_depends_on(tmp_path: Path) -> None:
    """Of the file, its includes and its table; in a folder with a space, not writable."""
    folder = tmp_path / "my project"
    file = written(
        folder, BUMP.replace("+ 7u", "+ EXTRA + TAILSCOPE_PAD + 7u").replace("\n", '\n#include "x.h"\n', 1)
    )
    written(folder, "#define EXTRA 0u\n", "x.h")
    file.with_suffix(".toml").write_text("knobs = { PAD = 0 }\n")
    operations = np.array([[1, slot, 8, 0] for slot in (0, 1)], dtype="uint32")

    def distance() -> int:
        folder.chmod(0o555)
        (name,) = outside.admit([str(file)])
        listed = host_heap.write(operations, tmp_path / "operations")
        first, second = host_heap.run(host_heap.build(name, 65_536), listed, 65_536).begin.tolist()
        folder.chmod(0o755)
        return int(second - first)

    distances = [distance()]
    (folder / "x.h").write_text("#define EXTRA 16u\n")
    distances.append(distance())
    file.with_suffix(".toml").write_text("knobs = { PAD = 64 }\n")
    distances.append(distance())
    file.write_text(file.read_text().replace("next += size", "next += size + 8"))
    distances.append(distance())
    (folder / "x.h").write_text("#define EXTRA 0u\n")
    file.with_suffix(".toml").write_text("knobs = { PAD = 0 }\n")
    distances.append(distance())
    assert distances == [8, 24, 88, 96, 16]


@table
def test_what_cannot_be_used_is_told_in_a_sentence(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    declared = "void *malloc(size_t); void other(void), abort(void); static char"
    text = BUMP.replace(*change, 1)
    text = text.replace("static char", declared, 1) if "static char" in text else text
    with pytest.raises(OutsideError, match=says) as raised:
        outside.read(written(tmp_path, text))
    assert "\n" not in str(raised.value)


def test_the_page_shows_the_example_whole() -> None:
    page = (ROOT / "docs" / "tutorial" / "my-allocator.md").read_text()
    assert f"```c\n{EXAMPLE.read_text()}```\n" in page
    assert f"```toml\n{EXAMPLE.with_suffix('.toml').read_text()}```\n" in page


def test_the_page_says_what_each_promise_is() -> None:
    page = (ROOT / "docs" / "reference" / "allocator-toml.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(PROMISES)


def test_a_file_that_was_named_is_found_by_its_digest_alone(tmp_path: Path) -> None:
    file = tmp_path / "bump.c"
    # A file that no test before has named.
    file.write_text(f"{BUMP}/* {tmp_path} */\n", encoding="utf-8")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert outside.remembered("bump", sha256) is None
    outside.read(file)
    assert outside.remembered("bump", sha256) == file
    assert outside.remembered("other", sha256) is outside.remembered("bump", "ab" * 32) is None
    file.write_text(BUMP + "\n", encoding="utf-8")
    assert outside.remembered("bump", sha256) is None
