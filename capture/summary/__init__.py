"""What came out of a run: the content of run.json."""
