"""Captures that another tool recorded, read into an edge list (docs/SPEC.md, section 17)."""
