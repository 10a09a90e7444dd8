"""Each allocator's own worst case, and everybody else on it: docs/reference/timing.md."""
