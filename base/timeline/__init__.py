"""Timelines as trace-event JSON, which ui.perfetto.dev and other viewers open."""
