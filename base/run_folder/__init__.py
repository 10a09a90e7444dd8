"""What a run folder holds (edges, records, tables, run.json), and how each is read and written."""
