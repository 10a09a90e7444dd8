"""Which allocator keeps a limit in a heap of a size: docs/how-to/choose.md."""
