"""A checkout of Zephyr, as its releases lay the heap out. What it holds is made here: just enough
for the adapter to compile.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from firmware.heap.tests.host_build import configure

PUBLIC = """\
#include <stddef.h>
struct sys_heap { struct z_heap *heap; };
void sys_heap_init(struct sys_heap *heap, void *memory, size_t bytes);
void *sys_heap_alloc(struct sys_heap *heap, size_t bytes);
void *sys_heap_aligned_alloc(struct sys_heap *heap, size_t align, size_t bytes);
void *sys_heap_aligned_realloc(struct sys_heap *heap, void *block, size_t align, size_t bytes);
void sys_heap_free(struct sys_heap *heap, void *block);
size_t sys_heap_usable_size(struct sys_heap *heap, void *block);
"""
PRIVATE = """\
#include <stdint.h>
#define CHUNK_UNIT 8u
typedef uint32_t chunkid_t;
struct z_heap { chunkid_t end_chunk; uint32_t avail_buckets; struct { chunkid_t next; } buckets[1]; };
uint32_t chunk_size(struct z_heap *heap, chunkid_t chunk);
int chunk_used(struct z_heap *heap, chunkid_t chunk);
chunkid_t right_chunk(struct z_heap *heap, chunkid_t chunk);
chunkid_t next_free_chunk(struct z_heap *heap, chunkid_t chunk);
"""
SOURCE = """\
#include <zephyr/kernel.h>
#include <zephyr/sys/sys_heap.h>
#include "heap.h"
void sys_heap_free(struct sys_heap *heap, void *block) { (void)heap; (void)block; }
"""


def checkout(folder: Path, where: str) -> Path:
    files = {"include/zephyr/sys/sys_heap.h": PUBLIC, f"{where}/heap.h": PRIVATE, f"{where}/heap.c": SOURCE}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def built(zephyr: Path, build: Path) -> subprocess.CompletedProcess[str]:
    """Compiles the heap with sys_heap."""
    if shutil.which("ninja") is None or shutil.which("cmake") is None:
        pytest.skip("cmake or ninja is not installed")
    command = [*configure(build, "sys_heap"), f"-DZEPHYR_PATH={zephyr}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done
    targets = ("--target", "tailscope_heap", "tailscope_foreign")
    return subprocess.run(["cmake", "--build", build, *targets], capture_output=True, text=True)


@pytest.mark.parametrize("where", ["lib/heap", "lib/os"])
def test_either_place_of_the_heap_is_found(tmp_path: Path, where: str) -> None:
    done = built(checkout(tmp_path / "zephyr", where), tmp_path / "build")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_checkout_without_a_heap_is_refused(tmp_path: Path) -> None:
    done = built(checkout(tmp_path / "zephyr", "lib/elsewhere"), tmp_path / "build")
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "has no lib/heap/heap.c: ZEPHYR_PATH must name a checkout of Zephyr, 3.1 or later." in said
