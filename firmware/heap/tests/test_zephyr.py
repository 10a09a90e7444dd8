"""A checkout of Zephyr, as its releases lay the heap out. What it holds is made here: just enough
for the adapter to compile.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from base.paths import ROOT
from firmware.build.cmake_build import Build, run_step

HEAP = ROOT / "firmware" / "heap" / "host"

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


@pytest.mark.parametrize("where", ["lib/heap", "lib/os"])
def test_either_place_of_the_heap_is_found(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZEPHYR_PATH", str(checkout(tmp_path / "zephyr", where)))
    heap = {"TAILSCOPE_ALLOCATOR": "sys_heap", "ZEPHYR_PATH": tmp_path / "zephyr"}
    build = Build("sys_heap", HEAP, tmp_path / "build", {**heap, "TAILSCOPE_HEAP_BYTES": 65536})
    build.configure()
    run_step(
        build.title, "compile", ["ninja", "-C", str(build.folder), "tailscope_heap", "tailscope_foreign"]
    )
