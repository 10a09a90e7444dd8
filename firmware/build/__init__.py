"""Builds the firmware, and reads the catalogue of allocators."""
