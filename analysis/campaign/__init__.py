"""Campaigns: every run of a matrix of settings, spread over workers, stored as tables."""
