"""Wire, records and plan, joined operation by operation, and how wrong each number may be."""
