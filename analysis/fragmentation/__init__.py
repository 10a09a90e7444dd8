"""How much heap a trace needs on each allocator: docs/how-to/fragmentation.md."""
