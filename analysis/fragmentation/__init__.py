"""How much heap a trace needs on each allocator: docs/FRAGMENTATION.md."""
