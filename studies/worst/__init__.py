"""Each allocator's own worst case, and everybody else on it: docs/TIMING.md."""
