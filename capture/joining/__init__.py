"""Wire, records and plan joined, operation by operation, and how far each may be wrong."""
