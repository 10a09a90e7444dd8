"""A search for each allocator's worst operations, beside the known worst cases and the bounds."""
