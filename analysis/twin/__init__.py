"""A board's run beside the same run on the virtual board, operation by operation."""
