"""Tests of the bounds of programs."""
