"""Explains the worst sample of a run: what the virtual board did at that instant, replayed and checked."""
