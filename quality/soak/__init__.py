"""Faults of a desk, each in a run with real processes, and runs back to back with them."""
