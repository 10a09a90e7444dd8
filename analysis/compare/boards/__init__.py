"""One allocator on several boards: cycles and times of each, and no verdict of which is better."""
