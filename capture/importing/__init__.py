"""Captures that another tool recorded, read into an edge list (docs/reference/captures.md)."""
